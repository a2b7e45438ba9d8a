/** Sockets that only one process can bind and that the kernel frees when the process dies, also by kill -9. */

import { rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { hasCode } from '../../files/errno.ts'
import { isSocketFile } from '../../platform/local-socket.ts'

const ASK_MS = 500
const MAX_ANSWER = 16 * 1024
/** An owner may end between the attempt to bind and the question. */
const ATTEMPTS = 10

export interface HeldSocket {
  release(): Promise<void>
}

/**
 * Binds an address until it is released or the process ends, and sends a text to each client. If another process has
 * it, returns that process's answer. Does not keep the process running.
 */
export async function holdSocket(
  address: string,
  text: () => string,
): Promise<HeldSocket | { answer: string }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const held = await listen(address, text)
    if (held) return held
    const answer = await askSocket(address)
    if (answer !== null) return { answer }
    // its process has died
    if (isSocketFile(address)) await rm(address, { force: true })
  }
  return { answer: '' }
}

/**
 * Returns the text of the process at an address, which is empty if it does not answer in time (it may be suspended);
 * null if there is no process.
 */
export function askSocket(address: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(address).setEncoding('utf8')
    let text = ''
    const settle = (answer: string | null): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(settle, ASK_MS, '')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.length > MAX_ANSWER) settle('')
    })
    socket.on('end', () => settle(text))
    socket.on('error', (error) => {
      if (hasCode(error, 'ECONNREFUSED', 'ENOENT', 'ENOTSOCK')) return settle(null)
      // a process listens but is busy, belongs to another user, or just ended
      if (hasCode(error, 'EAGAIN', 'EACCES', 'EPERM', 'ECONNRESET', 'EPIPE')) return settle('')
      clearTimeout(timer)
      reject(error)
    })
  })
}

/** Returns null if another process has the address, or has left its file. */
function listen(address: string, text: () => string): Promise<HeldSocket | null> {
  const server = createServer((peer) => {
    // a client that disconnects early does not matter
    peer.on('error', () => peer.destroy())
    peer.end(text(), () => peer.destroy())
  })
  const release = () => new Promise<void>((resolve) => server.close(() => resolve()))
  // so that processes of other users can ask too; names without a file have no permissions
  const open = isSocketFile(address) ? { readableAll: true, writableAll: true } : {}
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (hasCode(error, 'EADDRINUSE')) resolve(null)
      else reject(error)
    })
    server.listen({ path: address, exclusive: true, ...open }, () => {
      // if accept fails later (EMFILE), only an answer is lost
      server.on('error', () => {})
      server.unref()
      resolve({ release })
    })
  })
}
