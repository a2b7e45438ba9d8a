import { connect } from 'node:net'

/** Big enough that a long body costs few calls. */
const READ_BYTES = 1 << 20
/** No head is longer. */
const HEAD_BYTES = 4096

/**
 * The least client that HTTP allows, so that it is not what is measured: one kept connection, one request at a time.
 * Answers must have a `content-length` or no body. The first request opens the connection, and so does the next one after
 * the server has given up an idle connection.
 * @param {number} port
 */
export function openConnection(port) {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let left = 0
  let status = 0
  let head = ''
  /** The body of the answer, where it is asked for. @type {Buffer[] | null} */
  let parts = null
  /** @type {import('node:net').Socket | null} */
  let socket = null
  /** @type {{ done: () => void, fail: (error: Error) => void } | null} */
  let asked = null

  function open() {
    const onread = {
      buffer,
      callback(/** @type {number} */ count) {
        take(count)
        return true
      },
    }
    const opened = connect({ port, host: '127.0.0.1', noDelay: true, onread })
    let reason = new Error('the connection was closed before the answer')
    opened.on('error', (error) => {
      reason = error
    })
    opened.on('close', () => {
      asked?.fail(reason)
      asked = null
    })
    return opened
  }

  /** @param {number} count of bytes that have come */
  function take(count) {
    let from = 0
    if (left === 0) {
      const before = head.length
      head += buffer.toString('latin1', 0, Math.min(count, HEAD_BYTES))
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      status = Number(head.slice(9, 12))
      const length = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end + 2))
      if (!length && status !== 204) throw new Error(`an answer of no known length: ${head}`)
      left = Number(length?.[1] ?? 0)
      from = end + 4 - before
      head = ''
    }
    left -= count - from
    parts?.push(Buffer.from(buffer.subarray(from, count)))
    if (left < 0) throw new Error('more came than was asked for')
    if (left > 0) return
    const { done } = asked ?? {}
    asked = null
    done?.()
  }

  /**
   * Milliseconds from the request to the end of the answer, which must have a good status.
   * @param {Buffer} bytes of the request
   * @returns {Promise<number>}
   */
  function time(bytes) {
    return new Promise((resolve, reject) => {
      const began = performance.now()
      const done = () => {
        const ms = performance.now() - began
        if (status < 300) resolve(ms)
        else reject(new Error(`answered ${status}: ${bytes.toString()}`))
      }
      asked = { done, fail: reject }
      if (!socket || socket.destroyed || socket.readableEnded) socket = open()
      socket.write(bytes)
    })
  }

  return {
    time,
    /** The value of an answer in JSON. @param {string} method @param {string} path @param {unknown} [json] @returns {Promise<any>} */
    async ask(method, path, json) {
      parts = []
      await time(requestBytes(port, method, path, json))
      const text = Buffer.concat(parts).toString()
      parts = null
      return text === '' ? null : JSON.parse(text)
    },
    close: () => socket?.destroy(),
  }
}

/** @typedef {ReturnType<typeof openConnection>} Connection */

/** @param {number} port @param {string} method @param {string} path @param {unknown} [json] */
export function requestBytes(port, method, path, json) {
  const body = json === undefined ? '' : JSON.stringify(json)
  const type = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${body && type}`
  return Buffer.from(`${head}\r\n${body}`)
}
