// node fetch.mjs URL [COUNT]: fetches a page through a pool.
// Settings: REDIS_URL CHECK PROXYWARD_LUA, JOB_LIMIT and WAIT in seconds, JOB_CAP.
import { Redis } from 'ioredis'
import { request } from 'undici'
import { EmptyPool, Pool, PoolDispatcher, RedisAway, redisOptions } from './worker.mjs'

const { env } = process
const redis = new Redis(env.REDIS_URL ?? 'redis://127.0.0.1:6379/0', redisOptions)
redis.on('error', error => console.error(`Redis: ${error.code ?? error.name}`))
const jobs = env.JOB_LIMIT ? { limit: env.JOB_LIMIT * 1000, cap: Number(env.JOB_CAP ?? 0) } : undefined
let through = ''
const took = endpoint => { through = `through ${endpoint}` }
const dispatcher = new PoolDispatcher(new Pool(redis, env.CHECK ?? 'default', { jobs, took, wait: Number(env.WAIT ?? 30) * 1000 }))

const [url, count = 1] = process.argv.slice(2)
for (let i = 0; i < count; i++) {
  try {
    const { statusCode, body } = await request(url, { dispatcher })
    console.log(statusCode, (await body.arrayBuffer()).byteLength, 'bytes', through)
  } catch (error) { // its text may name the proxy: only the kind is told
    process.exitCode = 1
    if (error instanceof EmptyPool) {
      console.error(error.message)
      break
    }
    if (error instanceof RedisAway) console.error(error.message)
    else console.log(error.code ?? error.name, through)
  }
}
await dispatcher.close()
redis.disconnect()
