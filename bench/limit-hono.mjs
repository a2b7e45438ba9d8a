/**
 * A bare hono app that sends what another server answers: `node bench/limit-hono.mjs URL PATH…`. It asks once for each
 * path, and keeps the bytes and the headers.
 */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

/** Those that `node:http` sends by itself. */
const OWN = new Set(['date', 'connection', 'keep-alive', 'content-length'])

const [url = '', ...paths] = process.argv.slice(2)
/** @type {Map<string, { bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string> }>} */
const answers = new Map()
for (const path of paths) {
  const response = await fetch(url + path)
  if (response.status !== 200) throw new Error(`GET ${path} is answered ${response.status}`)
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN.has(name)))
  answers.set(path, { bytes: new Uint8Array(await response.arrayBuffer()), headers })
}

const app = new Hono()
/** @param {import('hono').Context} c */
const answer = (c) => {
  const known = answers.get(c.req.path)
  return known ? c.body(known.bytes, 200, known.headers) : c.notFound()
}
app.get('/cases', answer)
app.get('/cases/:id', answer)
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
