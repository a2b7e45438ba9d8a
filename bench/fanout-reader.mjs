/**
 * Streams of server-sent events, read as cheaply as can be: `node bench/fanout-reader.mjs URL STREAMS EVENTS
 * FILE`. Says `open` when all are open, and `done` when each has got so many events that have an id; then
 * the file holds their times of arrival, a row for each event, in milliseconds of `process.hrtime`.
 */
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'

const [url = '', streams = '', events = '', file = ''] = process.argv.slice(2)
const { port, pathname, search } = new URL(url)
const MARK = Buffer.from('\nid: ')
const HEAD_END = '\r\n\r\n'

/** @type {number[][]} */
const arrivals = Array.from({ length: Number(events) }, () => [])
let opened = 0
let missing = Number(streams) * Number(events)

for (let index = 0; index < Number(streams); index++) {
  let got = 0
  let isOpen = false
  /** So that a mark is found that comes in two parts. */
  let rest = Buffer.alloc(0)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n\r\n`,
  )
  socket.on('data', (part) => {
    const at = Number(process.hrtime.bigint()) / 1e6
    const bytes = rest.length > 0 ? Buffer.concat([rest, part]) : part
    if (!isOpen && bytes.includes(HEAD_END)) {
      isOpen = true
      if (!bytes.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(bytes.toString())
      if (++opened === Number(streams)) console.log('open')
    }
    let from = 0
    for (let found = bytes.indexOf(MARK); found >= 0; found = bytes.indexOf(MARK, from)) {
      from = found + MARK.length
      if (got === arrivals.length) throw new Error('more events came than were made')
      arrivals[got++]?.push(at)
      missing--
    }
    rest = bytes.subarray(Math.max(from, bytes.length - MARK.length + 1))
    if (missing > 0) return
    writeFileSync(file, JSON.stringify(arrivals))
    console.log('done')
  })
}
