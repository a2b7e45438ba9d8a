/**
 * The least that a Node process can do for the same effect as Casefile, from a process of its own: `node bench/limit.mjs
 * MODE …`. Each mode prints a line when it is done or ready.
 */
import fs from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'

const WARM_UP_WRITES = 5
/** Headers that `node:http` sends by itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** @type {Record<string, (...args: string[]) => unknown>} */
const MODES = {
  /** Reads every .md file. */
  read: (cases) => eachFile(cases, (path) => fs.readFileSync(path)),
  /** Asks for the times and the size of every .md file. */
  stat: (cases) => eachFile(cases, (path) => fs.statSync(path)),
  /** Looks for a text in every .md file. */
  find: (cases, text = '') =>
    eachFile(cases, (path) => fs.readFileSync(path, 'utf8').toLowerCase().includes(text)),
  watch,
  chokidar,
  write,
  post,
  hono,
}
const [mode = '', ...args] = process.argv.slice(2)
await MODES[mode]?.(...args)

/** @param {string | undefined} cases @param {(path: string) => unknown} work */
function eachFile(cases = '', work) {
  for (const entry of fs.readdirSync(cases, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.md')) work(join(entry.parentPath, entry.name))
  }
  console.log('done')
}

/** Has one fs.watch on each folder, and sends an event for each change of a case.md. @param {string} cases */
function watch(cases) {
  /** @type {Set<import('node:http').ServerResponse>} */
  const streams = new Set()
  const watchFolder = (/** @type {string} */ path, /** @type {string} */ id) =>
    fs.watch(path, (_, name) => {
      if (name !== 'case.md') return
      for (const stream of streams) stream.write(`data: {"payload":{"case_id":"${id}"}}\n\n`)
    })
  watchFolder(cases, '')
  for (const entry of fs.readdirSync(cases, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) watchFolder(join(entry.parentPath, entry.name), entry.name)
  }
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    streams.add(response)
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    console.log(`listening on http://127.0.0.1:${port}`)
  })
}

/** Has chokidar watch the folders alone, as Casefile does, and says when it is ready. @param {string} cases */
async function chokidar(cases) {
  const { watch } = await import('chokidar')
  const ignored = (/** @type {string} */ _, /** @type {fs.Stats | undefined} */ stats) =>
    stats?.isFile() === true
  const options = { ignored, followSymlinks: false, ignoreInitial: true }
  watch(cases, options).on('ready', () => console.log('ready'))
}

/**
 * Replaces the case.md of one case after the other: temporary file, fsync, rename, fsync of the folder; `create` makes a
 * folder first. One writer uses synchronous calls, which is the quickest way; more writers use promises.
 * @param {string} action `put` or `create`
 * @param {string} cases
 * @param {string} count
 * @param {string} writers
 */
async function write(action, cases, count, writers) {
  const isSync = writers === '1'
  const fsync = isSync ? fs.fsyncSync : promisify(fs.fsync)
  const open = isSync ? fs.openSync : promisify(fs.open)
  const close = isSync ? fs.closeSync : promisify(fs.close)
  const rename = isSync ? fs.renameSync : promisify(fs.rename)
  const mkdir = isSync ? fs.mkdirSync : promisify(fs.mkdir)
  /** @type {(file: number, bytes: Buffer) => unknown} */
  const writeBytes = isSync ? fs.writeSync : promisify(fs.write)

  const ids = fs.readdirSync(cases).sort()
  const bytes = fs.readFileSync(join(cases, String(ids[0]), 'case.md'))
  let turn = 0
  async function writeOne() {
    const number = turn++
    const isNew = action === 'create'
    const folder = join(
      cases,
      isNew ? `made-${process.pid}-${number}` : `${ids[number % ids.length]}`,
    )
    if (isNew) await mkdir(folder)
    const path = join(folder, 'case.md')
    const file = await open(`${path}.tmp`, 'wx')
    await writeBytes(file, bytes)
    await fsync(file)
    await close(file)
    await rename(`${path}.tmp`, path)
    const parent = await open(folder, 'r')
    await fsync(parent)
    await close(parent)
  }

  for (let done = 0; done < WARM_UP_WRITES; done++) await writeOne()
  /** @type {number[]} */
  const times = []
  let left = Number(count)
  const began = performance.now()
  const work = async () => {
    while (left-- > 0) {
      const from = performance.now()
      await writeOne()
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: Number(writers) }, work))
  console.log(JSON.stringify({ times, ms: performance.now() - began }))
}

/** Posts the requests in a JSON file, one after the other over one kept connection. @param {string} file @param {string} url */
async function post(file, url) {
  /** @type {{ headers: Record<string, string>, body: string }[]} */
  const requests = JSON.parse(fs.readFileSync(file, 'utf8'))
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  for (const { headers, body } of requests) {
    await new Promise((resolve, reject) => {
      const sending = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve)
      })
      sending.on('error', reject)
      sending.end(body)
    })
  }
  console.log(`posted in ${performance.now() - began} ms`)
  agent.destroy()
}

/** A bare hono app with the bytes and headers that another server answers on these paths. @param {string} url @param {string[]} paths */
async function hono(url, ...paths) {
  const [{ Hono }, { serve }] = await Promise.all([import('hono'), import('@hono/node-server')])
  const app = new Hono()
  /** @type {Map<string, { bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string> }>} */
  const answers = new Map()
  for (const path of paths) {
    const response = await fetch(url + path)
    if (response.status !== 200) throw new Error(`GET ${path} is answered ${response.status}`)
    const headers = [...response.headers].filter(([name]) => !OWN_HEADERS.has(name))
    const bytes = new Uint8Array(await response.arrayBuffer())
    answers.set(path, { bytes, headers: Object.fromEntries(headers) })
  }
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
}
