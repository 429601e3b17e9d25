// load.mjs N: N allocations by the Node kit, and how many.
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const { env } = process
const { Redis } = createRequire(`${env.KIT}/worker.mjs`)('ioredis')
const { Pool, redisOptions } = await import(pathToFileURL(`${env.KIT}/worker.mjs`))
const redis = new Redis(env.REDIS_URL, redisOptions)
const pool = new Pool(redis, env.CHECK)
let made = 0
while (made < process.argv[2]) {
  if (await pool.take()) made++
  else await sleep(50)
}
console.log(made)
redis.disconnect()
