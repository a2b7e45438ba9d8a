import { join } from 'node:path'
import { startChild } from './child.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { recordAnswers } from './reads-record.mjs'

/** @import { Figures } from './smoke-verdict.mjs' */
/** @import { Server } from './smoke-starts.mjs' */

const LIMIT = join(import.meta.dirname, 'reads-limit.mjs')
/** Short, so that some of them find the processor free on a busy machine. */
const BATCHES = 25
const CONNECTIONS = 8
const REQUESTS = { one: 160, list: 8 }
const CHANGES = 25

/** @typedef {{ port: number, requests: Buffer[], count: number, status: number }} Load */

/**
 * Starts a bare server with the same answers, and returns what measures: the quickest of many short
 * batches of requests to each side, in turns.
 * @param {Server} server
 * @returns {Promise<() => Promise<Record<string, Figures>>>}
 */
export async function smokeReads({ casefile, workspace, onEnd }) {
  const folder = workspace.newFolder('answers')
  const one = workspace.ids.slice(0, REQUESTS.one).map((id) => `/cases/${id}`)
  await recordAnswers(casefile.url, ['/cases', ...one], folder)
  const limit = startChild([LIMIT, folder])
  onEnd(() => limit.stop('SIGKILL'))
  const { found } = await limit.line(/^listening on (\S+)$/m)
  const [ours, bare] = [casefile.url, String(found[1])].map((url) => Number(new URL(url).port))
  if (!ours || !bare) throw new Error('a server without a port')

  /** @type {(port: number, path: string, headers?: Record<string, string>) => Load} */
  const same = (port, path, headers = {}) => {
    const isKnown = 'if-none-match' in headers
    return {
      ...{ port, requests: [rawRequest(port, 'GET', path, { headers })] },
      ...{ count: path === '/cases' && !isKnown ? REQUESTS.list : REQUESTS.one },
      status: isKnown ? 304 : 200,
    }
  }
  /** @type {(port: number) => Load} */
  const each = (port) => ({
    ...{ port, requests: one.map((path) => rawRequest(port, 'GET', path)) },
    ...{ count: one.length, status: 200 },
  })
  return async () => {
    const known = { 'if-none-match': await etagOf(`${casefile.url}/cases`) }
    return {
      'GET one case': await inTurns(each(ours), each(bare)),
      'GET the list': await inTurns(same(ours, '/cases'), same(bare, '/cases')),
      'the list, If-None-Match': await inTurns(same(ours, '/cases', known), each(bare)),
      'the list after a change': await afterChanges(ours, bare, one),
    }
  }
}

/** @type {(ours: Load, limit: Load) => Promise<Figures>} */
async function inTurns(ours, limit) {
  const best = { ours: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY }
  for (let batch = 0; batch < BATCHES; batch++) {
    best.limit = Math.min(best.limit, await batchTime(limit))
    best.ours = Math.min(best.ours, await batchTime(ours))
  }
  return best
}

/** Until all requests are answered, a few at a time. @param {Load} load */
async function batchTime({ port, requests, count, status }) {
  const connections = Array.from({ length: CONNECTIONS }, () => openRaw(port))
  let left = count
  const began = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) {
        const request = /** @type {Buffer} */ (requests[left % requests.length])
        /** @type {import('./raw-connection.mjs').RawAnswer} */
        const answer = await new Promise((resolve, reject) =>
          connection.send(request, resolve, reject),
        )
        if (answer.status !== status) throw new Error(`answered ${answer.status}, not ${status}`)
      }
    }),
  )
  const ms = performance.now() - began
  for (const connection of connections) connection.close()
  return ms
}

/** The list just after another title, and one made anew for each request. @type {(ours: number, bare: number, paths: string[]) => Promise<Figures>} */
async function afterChanges(ours, bare, paths) {
  const [mine, other] = [openRaw(ours), openRaw(bare)]
  const best = { ours: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY }
  for (let change = 0; change < CHANGES; change++) {
    const json = { title: `Changed before a list, ${change} ${performance.now()}` }
    await mine.time(rawRequest(ours, 'PUT', String(paths[change]), { json }))
    best.ours = Math.min(best.ours, await mine.time(rawRequest(ours, 'GET', '/cases')))
    const stringified = rawRequest(bare, 'GET', '/cases?stringify')
    best.limit = Math.min(best.limit, await other.time(stringified))
  }
  mine.close()
  other.close()
  return best
}

/** @param {string} url */
async function etagOf(url) {
  const response = await fetch(url)
  await response.arrayBuffer()
  return String(response.headers.get('etag'))
}
