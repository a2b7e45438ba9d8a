import { connect } from 'node:net'

/** @import { Socket } from 'node:net' */

/** Big enough that a long body costs few calls. */
const READ_BYTES = 1 << 20
/** No head is longer. */
const HEAD_BYTES = 4096

/**
 * The least client that HTTP allows, so that it is not what is measured: one kept connection, requests
 * that were put together before, answers of which only the status and the length are looked at.
 * Answers must say their `content-length`, or have none (304). It is opened by the first request, and by
 * the next one after the server has given up the idle connection.
 * @param {number} port
 */
export function openRaw(port) {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let left = 0
  let answer = { status: 0, bytes: 0 }
  let head = ''
  /** @type {{ done: (answer: RawAnswer) => void, fail: (error: Error) => void } | null} */
  let asked = null
  let socket = /** @type {Socket | null} */ (null)

  function open() {
    /** @type {Socket} */
    const opened = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer, callback: (count) => take(count) || !opened.destroy() },
    })
    /** @type {Error | null} */
    let reason = null
    opened.on('error', (error) => {
      reason = error
    })
    opened.on('close', () => {
      const { fail } = asked ?? {}
      asked = null
      fail?.(reason ?? new Error('the connection was closed before the answer'))
    })
    return opened
  }

  /** False where nothing was asked for. @param {number} count of bytes that have come */
  function take(count) {
    if (!asked) return false
    let from = 0
    if (left === 0) {
      const before = head.length
      head += buffer.toString('latin1', 0, Math.min(count, HEAD_BYTES))
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return true
      const status = Number(head.slice(9, 12))
      const length = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end + 2))
      if (!length && status !== 304) throw new Error(`an answer of no known length: ${head}`)
      left = status === 304 ? 0 : Number(length?.[1])
      answer = { status, bytes: left }
      from = end + 4 - before
      head = ''
    }
    left -= count - from
    if (left < 0) throw new Error('more came than was asked for')
    if (left > 0) return true
    const { done } = asked
    asked = null
    done(answer)
    return true
  }

  /**
   * @param {Buffer} request
   * @param {(answer: RawAnswer) => void} done
   * @param {(error: Error) => void} fail
   */
  function send(request, done, fail) {
    const kept = socket && !socket.destroyed && !socket.readableEnded ? socket : open()
    socket = kept
    asked = { done, fail }
    kept.write(request)
  }

  return {
    send,
    /**
     * Milliseconds from the request to the end of the answer, which must have a good status.
     * @param {Buffer} request
     * @returns {Promise<number>}
     */
    time(request) {
      return new Promise((resolve, reject) => {
        const began = performance.now()
        const done = (/** @type {RawAnswer} */ { status }) => {
          const ms = performance.now() - began
          if (status < 300) resolve(ms)
          else reject(new Error(`answered ${status}: ${request.toString()}`))
        }
        send(request, done, reject)
      })
    },
    close: () => socket?.destroy(),
  }
}

/**
 * The bytes of a request.
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {{ headers?: Record<string, string>, json?: unknown }} [options]
 */
export function rawRequest(port, method, path, { headers = {}, json } = {}) {
  const body = json === undefined ? '' : JSON.stringify(json)
  const all = {
    host: `127.0.0.1:${port}`,
    ...headers,
    ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

/** @typedef {{ status: number, bytes: number }} RawAnswer */
