// A worker of a proxyward pool: an undici Dispatcher that takes a proxy from Redis for each request.
//
// Copy this file, and the directory store/lua beside it as lua/ (or name it by PROXYWARD_LUA), and
// `npm install ioredis@5 undici@6 socks@2`.
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

import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SocksClient } from 'socks'
import { Agent, DecoratorHandler, Dispatcher, ProxyAgent, buildConnector, util } from 'undici'

if (!DecoratorHandler.prototype.onHeaders) throw new Error('this worker is for undici 6') // later ones call a handler otherwise

// No proxy was free for as long as the worker waits. No request was made.
export class EmptyPool extends Error {}

// Redis gave no proxy: it is away, or refuses this user. No request was made.
export class RedisAway extends Error {}

// For ioredis: nothing is sent twice (it would be counted twice), and no INFO, which a worker may not.
export const redisOptions = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, enableReadyCheck: false, commandTimeout: 5000 }

const scripts = { allocate_url: 2, report: 1, acquire: 5, release: 4 } // and how many keys each has

// What a response means for the proxy: stage and reason in the words of docs/verdicts.md, or nothing.
// Add what your target sends to proxies that it does not like.
export function judge (status) {
  return status === 407 ? ['proxy_auth', 'auth_rejected'] : undefined
}

function script (path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new Error(`${path} cannot be read: copy store/lua there, or name it by PROXYWARD_LUA`)
  }
}

export class Pool {
  #redis; #key; #options

  // redis: of ioredis; new Redis, new Redis.Cluster, or with `sentinels`.
  // jobs: { limit, cap }: ms after which a job counts as abandoned, live jobs a proxy has at most (0: any number)
  // wait: ms to wait while no proxy is free; worker: its name in reports
  // took: is given the id of each proxy taken, for a log
  constructor (redis, check, options = {}) {
    const lua = options.lua ?? process.env.PROXYWARD_LUA ?? join(dirname(fileURLToPath(import.meta.url)), 'lua')
    this.#redis = redis
    this.#options = { wait: 30000, worker: `${hostname()}-${process.pid}`, ...options }
    this.#key = part => `${options.prefix ?? 'proxyward'}:{${check}}:${part}`
    for (const [name, numberOfKeys] of Object.entries(scripts)) { // EVAL, then EVALSHA; EVAL again on NOSCRIPT
      redis.defineCommand(`proxyward_${name}`, { numberOfKeys, lua: script(join(lua, `${name}.lua`)) })
    }
  }

  // Takes a proxy, or null: then make no request.
  async take () {
    const { jobs, took } = this.#options
    let got
    try {
      got = jobs
        ? await this.#run('acquire', ['eligible', 'inflight', 'jobs', 'clock', 'urls'], jobs.limit, jobs.cap ?? 0)
        : await this.#run('allocate_url', ['eligible', 'urls'])
    } catch (cause) {
      throw new RedisAway(`Redis did not give a proxy: ${cause.name}`, { cause })
    }
    if (!got) return null
    took?.(got[0])
    return new Lease(this, got[0], got.at(-1), jobs && got[1])
  }

  // Takes a proxy; while none is free it asks again, ever more rarely, for `wait` ms.
  async lease () {
    const end = performance.now() + this.#options.wait
    for (let pause = 50; ; pause = Math.min(2 * pause, 2000)) {
      const lease = await this.take()
      if (lease) return lease
      const left = end - performance.now()
      if (left <= 0) throw new EmptyPool(`no proxy of ${this.#key('eligible')} was free for ${this.#options.wait / 1000} s`)
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

  // agent: options for ProxyAgent; for SOCKS, of these, requestTls
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
      handler.onError(error)
    }
  }

  #agent (url) {
    const agent = this.#agents.get(url) ?? (/^socks/.test(url) ? socksAgent : httpAgent)(url, this.#agentOptions)
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

const httpAgent = (uri, options) => new ProxyAgent({ uri, ...options })

// socks5h and socks4a have the proxy look the target's name up, socks5 and socks4 this host.
function socksAgent (url, { requestTls }) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const proxy = {
    host: hostname.replace(/[[\]]/g, ''),
    port: Number(port),
    type: Number(protocol[5]),
    userId: decodeURIComponent(username),
    password: decodeURIComponent(password)
  }
  const here = /^socks[45]:/.test(protocol)
  const tls = buildConnector({ timeout: 5000, ...requestTls })
  const connect = async to => {
    const host = here ? (await lookup(to.hostname, { family: proxy.type === 4 ? 4 : 0 })).address : to.hostname
    const destination = { host, port: Number(to.port) || (to.protocol === 'https:' ? 443 : 80) }
    const { socket } = await SocksClient.createConnection({ proxy, command: 'connect', destination, timeout: 5000, set_tcp_nodelay: true })
    return socket
  }
  return new Agent({
    connect: (to, callback) => {
      connect(to).then(
        httpSocket => to.protocol === 'https:' ? tls({ ...to, httpSocket }, callback) : callback(null, httpSocket),
        error => callback(error.options ? new SocksError(error.message) : error)) // error.options has the password
    }
  })
}

// What went wrong between here and a SOCKS proxy's answer.
export class SocksError extends Error {}

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

  onHeaders (status, headers, resume, message) {
    if (status >= 200) this.#failure = this.#judge(status, util.parseHeaders(headers))
    return super.onHeaders(status, headers, resume, message)
  }

  onComplete (trailers) {
    this.#done(this.#failure)
    return super.onComplete(trailers)
  }

  onError (error) {
    this.#done(this.#failure ?? failureOf(error))
    return super.onError(error)
  }
}

// What an error of undici means for the proxy; nothing where the proxy is not to blame.
export function failureOf (error) {
  if (error instanceof SocksError) return socksFailure(error.message)
  const status = /Proxy .*\((\d+)\)/.exec(error?.message)?.[1]
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

function socksFailure (text) {
  if (/authentication/i.test(text)) return ['proxy_auth', 'auth_rejected']
  if (/ECONNREFUSED/.test(text)) return ['connect', 'refused']
  if (/timed out/.test(text)) return ['connect', 'timeout']
  if (/EHOSTUNREACH|ENETUNREACH/.test(text)) return ['connect', 'unreachable']
  return ['tunnel', 'upstream_error']
}
