/** Sockets that only one process can bind and that the kernel frees when the process dies, also by kill -9. */

import { link, rename, stat, unlink } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { hasCode } from '../../files/errno.ts'
import { tempName } from '../../files/temp-files.ts'
import { isSocketFile } from '../../platform/local-socket.ts'

const ASK_MS = 500
const MAX_ANSWER = 16 * 1024
const ATTEMPTS = 10

export interface HeldSocket {
  release(): Promise<void>
}

/** Another process has the address; this is its answer. */
export interface TakenSocket {
  text: string | null
}

/** `text` is null if the process did not answer in time (it may be suspended). */
export type Probe = { held: false } | { held: true; text: string | null }

/**
 * Binds an address until it is released or the process ends, and sends one line to each client. If another process
 * has it, returns that process's answer. Does not keep the process running.
 */
export async function holdSocket(
  address: string,
  answer: () => string,
): Promise<HeldSocket | TakenSocket> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const held = await listen(address, answer)
    if (held) return held
    const before = await inodeOf(address)
    const probe = await askSocket(address)
    if (probe.held) return { text: probe.text }
    if (before !== null) await takeAway(address, before)
  }
  return { text: null }
}

/** Asks the process at an address for its line. */
export function askSocket(address: string, timeoutMs: number = ASK_MS): Promise<Probe> {
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    let text = ''
    const settle = (probe: Probe): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(probe)
    }
    const timer = setTimeout(() => settle({ held: true, text: null }), timeoutMs)
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end !== -1) settle({ held: true, text: text.slice(0, end) })
      else if (text.length > MAX_ANSWER) settle({ held: true, text: null })
    })
    socket.on('end', () => settle({ held: true, text: null }))
    socket.on('error', (error) => {
      if (hasCode(error, 'ECONNREFUSED', 'ENOENT', 'ENOTSOCK')) return settle({ held: false })
      // a process listens but is busy, belongs to another user, or just ended
      if (hasCode(error, 'EAGAIN', 'EACCES', 'EPERM', 'ECONNRESET', 'EPIPE')) {
        return settle({ held: true, text: null })
      }
      clearTimeout(timer)
      reject(error)
    })
  })
}

function listen(address: string, answer: () => string): Promise<HeldSocket | null> {
  const peers = new Set<Socket>()
  const server = createServer((peer) => {
    peers.add(peer)
    peer.on('close', () => peers.delete(peer))
    // a client that disconnects early does not matter
    peer.on('error', () => peer.destroy())
    peer.setTimeout(2 * ASK_MS, () => peer.destroy())
    peer.resume()
    peer.end(`${answer()}\n`)
  })
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
      resolve({ release: () => close(server, peers) })
    })
  })
}

function close(server: Server, peers: Set<Socket>): Promise<void> {
  for (const peer of peers) peer.destroy()
  return new Promise((resolve) => server.close(() => resolve()))
}

/** Unlinks only the dead socket that was probed: if the name has become a live socket since, it is put back. */
async function takeAway(address: string, dead: bigint): Promise<void> {
  const aside = tempName(address)
  try {
    await rename(address, aside)
    if ((await inodeOf(aside)) !== dead) await link(aside, address)
    await unlink(aside)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EEXIST')) throw error
  }
}

async function inodeOf(address: string): Promise<bigint | null> {
  if (!isSocketFile(address)) return null
  try {
    return (await stat(address, { bigint: true })).ino
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}
