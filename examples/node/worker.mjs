// A worker of a proxyward pool: an undici Dispatcher that takes a proxy from Redis for each request.
//
// Copy this file, and the directory store/lua beside it as lua/ (or name it by PROXYWARD_LUA).
//
//   import { Redis } from 'ioredis'
//   import { fetch } from 'undici'
//   const pool = new Pool(new Redis('redis://127.0.0.1:6379/0', redisOptions), 'catalogue')
//   const dispatcher = new PoolDispatcher(pool)
//   const response = await fetch('https://shop.example/catalogue', { dispatcher })
//
// Each request takes a proxy of its own, and so does each redirect; it is in use until the body was
// read. A proxy that fails is reported, by its id: the URL with its password goes to undici and
// nowhere else. With `jobs` live jobs are counted, for checks with `jobs: true`.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DecoratorHandler, Dispatcher, ProxyAgent } from 'undici'

// No proxy was free for as long as the worker waits. No request was made.
export class EmptyPool extends Error {}

// For ioredis: nothing is sent twice (it would be counted twice), and no INFO, which a worker may not.
export const redisOptions = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, enableReadyCheck: false, commandTimeout: 5000 }

const scripts = { allocate_url: 2, report: 1, acquire: 5, release: 4 } // and how many keys each has

// What a response means for the proxy: stage and reason in the words of docs/verdicts.md, or nothing.
// Add what your target sends to proxies that it does not like.
export function judge (status) {
  return status === 407 ? ['proxy_auth', 'auth_rejected'] : undefined
}

export class Pool {
  #redis; #key; #options

  // redis: of ioredis; new Redis, new Redis.Cluster, or with `sentinels`.
  // jobs: { limit, cap }: ms after which a job counts as abandoned, live jobs a proxy has at most (0: any number)
  // wait: ms to wait while no proxy is free
  constructor (redis, check, options = {}) {
    const lua = options.lua ?? process.env.PROXYWARD_LUA ?? join(import.meta.dirname, 'lua')
    this.#redis = redis
    this.#options = { wait: 30000, worker: `${hostname()}-${process.pid}`, ...options }
    this.#key = part => `${options.prefix ?? 'proxyward'}:{${check}}:${part}`
    for (const [name, numberOfKeys] of Object.entries(scripts)) { // EVALSHA, then EVAL on NOSCRIPT
      redis.defineCommand(`proxyward_${name}`, { numberOfKeys, lua: readFileSync(join(lua, `${name}.lua`), 'utf8') })
    }
  }

  // Takes a proxy, or null: then make no request.
  async take () {
    const { jobs } = this.#options
    if (!jobs) {
      const got = await this.#run('allocate_url', ['eligible', 'urls'])
      return got && new Lease(this, got[0], got[1])
    }
    const got = await this.#run('acquire', ['eligible', 'inflight', 'jobs', 'clock', 'urls'], jobs.limit, jobs.cap ?? 0)
    return got && new Lease(this, got[0], got[2], got[1])
  }

  // Takes a proxy; while none is free it asks again, ever more rarely, for `wait` ms.
  async lease () {
    const end = performance.now() + this.#options.wait
    for (let pause = 50; ; pause = Math.min(2 * pause, 2000)) {
      const lease = await this.take()
      if (lease) return lease
      const left = end - performance.now()
      if (left <= 0) throw new EmptyPool(`no proxy was free for ${this.#options.wait} ms`)
      await sleep(Math.min(left, pause * (0.5 + Math.random() / 2)))
    }
  }

  async end (endpoint, token, failure) {
    const { worker } = this.#options
    const [stage, reason] = failure ?? ['', '']
    try {
      if (token) {
        await this.#run('release', ['inflight', 'jobs', 'engaged', 'reports'], token, failure ? 'failed' : '', stage, reason, worker)
      } else if (failure) {
        await this.#run('report', ['reports'], endpoint, 'failed', stage, reason, worker, Date.now())
      }
    } catch {} // a lost report is not worth a retry, and a job ends by its limit
  }

  #run (name, keys, ...args) {
    return this.#redis[`proxyward_${name}`](...keys.map(this.#key), ...args)
  }
}

// A proxy in use. It ends once, by done().
export class Lease {
  #pool; #token; #over

  constructor (pool, endpoint, url, token) {
    this.endpoint = endpoint
    Object.defineProperty(this, 'url', { value: url, enumerable: false }) // a secret: not for console.log
    this.#pool = pool
    this.#token = token
  }

  done (failure) {
    this.#over ??= this.#pool.end(this.endpoint, this.#token, failure)
    return this.#over
  }
}

const kept = 100 // proxies to which connections are kept open

export class PoolDispatcher extends Dispatcher {
  #pool; #agents = new Map(); #agentOptions; #judge; #ending = new Set()

  // agent: options for ProxyAgent
  constructor (pool, { judge: say = judge, agent } = {}) {
    super()
    this.#pool = pool
    this.#judge = say
    this.#agentOptions = { proxyTunnel: false, proxyTls: { timeout: 5000 }, ...agent }
  }

  dispatch (options, handler) {
    this.#dispatch(options, handler)
    return true
  }

  async #dispatch (options, handler) {
    let lease
    try {
      lease = await this.#pool.lease()
      const done = failure => {
        const ending = lease.done(failure).finally(() => this.#ending.delete(ending))
        this.#ending.add(ending)
      }
      this.#agent(lease.url).dispatch({ ...options, ...limits(options) }, new Watch(handler, this.#judge, done))
    } catch (error) {
      await lease?.done()
      const tell = handler.onResponseError ? e => handler.onResponseError(null, e) : e => handler.onError(e)
      tell(error)
    }
  }

  #agent (url) {
    const agent = this.#agents.get(url) ?? new ProxyAgent({ uri: url.replace(/^socks5h:/, 'socks5:'), ...this.#agentOptions })
    this.#agents.delete(url)
    this.#agents.set(url, agent)
    if (this.#agents.size > kept) {
      const [oldest, idle] = this.#agents.entries().next().value
      this.#agents.delete(oldest)
      idle.close()
    }
    return agent
  }

  async close () {
    await Promise.all([...this.#agents.values()].map(agent => agent.close()))
    await Promise.all(this.#ending)
  }
}

// ProxyAgent hands its own limits on for https only: so each request carries them.
const limits = ({ headersTimeout, bodyTimeout }) => ({ headersTimeout: headersTimeout ?? 15000, bodyTimeout: bodyTimeout ?? 15000 })

// Sees what becomes of a request.
class Watch extends DecoratorHandler {
  #judge; #done; #failure

  constructor (handler, judge, done) {
    super(handler)
    this.#judge = judge
    this.#done = done
  }

  onResponseStart (controller, status, headers, message) {
    if (status >= 200) this.#failure = this.#judge(status, headers)
    return super.onResponseStart(controller, status, headers, message)
  }

  onResponseEnd (controller, trailers) {
    this.#done(this.#failure)
    return super.onResponseEnd(controller, trailers)
  }

  onResponseError (controller, error) {
    this.#done(this.#failure ?? failureOf(error))
    return super.onResponseError(controller, error)
  }
}

// What an error of undici means for the proxy; nothing where the proxy is not to blame.
export function failureOf (error) {
  const status = /Proxy response \((\d+)\)/.exec(error?.message)?.[1]
  if (status) return status === '407' ? ['proxy_auth', 'auth_rejected'] : ['tunnel', 'upstream_error']
  switch (error?.code) {
    case 'ECONNREFUSED': return ['connect', 'refused']
    case 'EHOSTUNREACH': case 'ENETUNREACH': return ['connect', 'unreachable']
    case 'UND_ERR_CONNECT_TIMEOUT': return ['connect', 'timeout']
    case 'UND_ERR_HEADERS_TIMEOUT': return ['headers', 'timeout']
    case 'UND_ERR_BODY_TIMEOUT': return ['body', 'timeout']
    case 'ECONNRESET': case 'UND_ERR_SOCKET': return ['headers', 'reset']
    case 'UND_ERR_PRX_TLS': return ['proxy_tls', 'cert_untrusted']
  }
}
