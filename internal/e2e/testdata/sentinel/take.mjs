// take.mjs SENTINEL...: for each line of standard input, takes a proxy with the Node kit, and prints its id.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const { env } = process
const { Redis } = createRequire(`${env.KIT}/worker.mjs`)('ioredis')
const { Pool, redisOptions } = await import(pathToFileURL(`${env.KIT}/worker.mjs`))
const sentinels = process.argv.slice(2).map(address => ({ host: address.split(':')[0], port: Number(address.split(':')[1]) }))
const redis = new Redis({ sentinels, name: env.MASTER, ...redisOptions })
redis.on('error', () => {}) // each call tells its own
const pool = new Pool(redis, env.CHECK)
for await (const _ of createInterface({ input: process.stdin })) {
  for (let endpoint; !endpoint;) {
    try {
      ({ endpoint } = await pool.lease())
      console.log(endpoint)
    } catch {
      await sleep(100)
    }
  }
}
redis.disconnect()
