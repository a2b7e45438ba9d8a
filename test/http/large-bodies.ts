import { connect, type Socket } from 'node:net'
import t from 'tap'
import { inLongLane, isFull } from '../fixtures/full.ts'
import { heldBytes } from '../fixtures/garbage.ts'
import { serveTwice } from '../fixtures/second-server.ts'

const MIB = 1024 * 1024
const TOTAL = (isFull ? 60 : 20) * MIB
const PIECE = Buffer.alloc(64 * 1024, 'x')

const PLAIN = 'Content-Type: application/json'

const BODIES: Record<string, (port: number, id: string) => { head: string; isChunked: boolean }> = {
  'by its length': (port) => ({
    head: posting('/cases', port, `Content-Length: ${TOTAL}`),
    isChunked: false,
  }),
  'in chunks': (port) => ({
    head: posting('/cases', port, 'Transfer-Encoding: chunked'),
    isChunked: true,
  }),
  'of another route': (port, id) => ({
    head: posting(`/cases/${id}/sessions`, port, 'Transfer-Encoding: chunked'),
    isChunked: true,
  }),
  'from a page of another site': (port) => ({
    head: posting('/cases', port, `Content-Length: ${TOTAL}\r\nOrigin: null`),
    isChunked: false,
  }),
}

const posting = (path: string, port: number, length: string) =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${PLAIN}\r\n${length}\r\nConnection: close\r\n\r\n`

const sent = (socket: Socket, bytes: Buffer | string) =>
  new Promise<void>((resolve) => socket.write(bytes, () => resolve()))

t.test('of a body that is too large at most 2 MiB are held', inLongLane, async (t) => {
  // collecting garbage beside other work takes longer than a request may
  const { app, port } = await serveTwice(t, { requestMs: 300_000 })
  const { id } = await app.newCase()
  for (const [name, bodyOf] of Object.entries(BODIES)) {
    await t.test(name, async (t) => {
      const { head, isChunked } = bodyOf(port, id)
      const socket = connect(port, '127.0.0.1')
      t.teardown(() => socket.destroy())
      let answer = ''
      socket.setEncoding('latin1').on('data', (some) => {
        answer += some
      })
      const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
      socket.on('error', () => {}) // 'close' follows
      await sent(socket, head)
      const before = heldBytes()
      let most = 0
      for (let total = 0; total < TOTAL && !socket.destroyed; total += PIECE.length) {
        if (isChunked) await sent(socket, `${PIECE.length.toString(16)}\r\n`)
        await sent(socket, PIECE)
        if (isChunked) await sent(socket, '\r\n')
        if (total % (4 * MIB) === 0) most = Math.max(most, heldBytes() - before)
      }
      if (isChunked) socket.write('0\r\n\r\n')
      await closed
      t.match(
        answer,
        name === 'from a page of another site' ? /^HTTP\/1\.1 403 / : /^HTTP\/1\.1 413 /,
      )
      t.ok(most <= 2 * MIB, `${(most / MIB).toFixed(2)} MiB`)
      t.comment(`${(most / MIB).toFixed(2)} MiB`)
    })
  }
})
