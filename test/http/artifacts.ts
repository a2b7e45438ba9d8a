import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { byteRange } from '../../src/http/byte-range.ts'
import { inLongLane } from '../fixtures/full.ts'
import { pngOf } from '../fixtures/pictures.ts'
import {
  envelope,
  finished,
  must,
  planned,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const get = (path: string, headers: Record<string, string> = {}) =>
  app.request('GET', path, undefined, headers)

const steps = [
  step('echo one; echo two >&2', 'sh run id=say proof=log'),
  step('printf "%s\\n" "1..1" "ok 1 - fine"', 'sh run id=test proof=tap'),
  step('true', 'sh run id=quiet'),
  step('echo "<b>out</b>"; echo "| x"', 'sh run id=tags'),
].join('')
const ref = await planned(app, { runbook: steps })
await finished(app, ref)
const file = (name: string) => app.file(ref.case_id, 'artifacts', name)
const at = (name: string) => `${ref.path}/artifacts/${name}`

writeFileSync(file('2-other.log'), 'of another session')
mkdirSync(file('1-folder'))
symlinkSync('/etc/hostname', file('1-link.log'))
execFileSync('mkfifo', [file('1-pipe.log')])

t.test('one comes as plain text that can do nothing', async (t) => {
  writeFileSync(file('1-page.log'), '<script>alert(1)</script>\xff')
  const reply = await get(at('1-page.log'))
  t.match(reply, {
    status: 200,
    text: /^<script>/,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: /^"/,
    },
  })
  t.equal((await get(at('1-page.log'), { 'if-none-match': reply.headers.etag! })).status, 304)
})

t.test('a part of it', async (t) => {
  writeFileSync(file('1-ten.log'), '0123456789')
  const table: [range: string, status: number, text: string, place?: string][] = [
    ['bytes=0-', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=2-3', 206, '23', 'bytes 2-3/10'],
    ['bytes=2-99', 206, '23456789', 'bytes 2-9/10'],
    ['bytes=-4', 206, '6789', 'bytes 6-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=3-2', 200, '0123456789'],
    ['bytes=0-1,4-5', 200, '0123456789'],
    ['lines=0-1', 200, '0123456789'],
    ['bytes=x-', 200, '0123456789'],
  ]
  for (const [range, status, text, place] of table) {
    const reply = await get(at('1-ten.log'), { range })
    t.match(reply, { status, text }, range)
    t.equal(reply.headers['content-range'], place, range)
    t.equal(reply.headers['content-length'], String(text.length), range)
  }
  for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=-0']) {
    const reply = await get(at('1-ten.log'), { range })
    t.match(reply, { status: 416, json: { code: 'range_not_satisfiable' } }, range)
    t.equal(reply.headers['content-range'], 'bytes */10', range)
  }
  const conditional = await get(at('1-ten.log'), { range: 'bytes=0-1', 'if-range': '"x"' })
  t.match(conditional, { status: 200, text: '0123456789' })
  const head = await app.request('HEAD', at('1-ten.log'), undefined, { range: 'bytes=2-3' })
  t.match(head, { status: 206, text: '', headers: { 'content-range': 'bytes 2-3/10' } })
})

t.test(
  'over 10 MiB it comes as a stream, a part of it is 10 MiB at most',
  inLongLane,
  async (t) => {
    const MIB = 1024 * 1024
    writeFileSync(file('1-huge.log'), 'begin')
    truncateSync(file('1-huge.log'), 12 * MIB)
    writeFileSync(file('1-huge.log'), 'the end', { flag: 'a' })
    const whole = await get(at('1-huge.log'))
    t.match(whole, {
      status: 200,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'content-security-policy': "sandbox; default-src 'none'",
        'content-length': String(12 * MIB + 7),
      },
    })
    t.equal(whole.text.length, 12 * MIB + 7)
    t.match([whole.text.slice(0, 5), whole.text.slice(-7)], ['begin', 'the end'])
    truncateSync(file('1-huge.log'), 12 * MIB)
    t.match(await app.request('HEAD', at('1-huge.log')), {
      status: 200,
      text: '',
      headers: { 'content-length': String(12 * MIB) },
    })
    const range = async (range: string) => (await get(at('1-huge.log'), { range })).headers
    const last = 12 * MIB - 1
    t.equal((await range('bytes=5-'))['content-range'], `bytes 5-${5 + 10 * MIB - 1}/${12 * MIB}`)
    t.equal(
      (await range(`bytes=-${11 * MIB}`))['content-range'],
      `bytes ${2 * MIB}-${last}/${12 * MIB}`,
    )
  },
)

t.test('ranges of what is not there, or too much', async (t) => {
  t.equal(byteRange('bytes=0-', 0, 10), 'none')
  t.equal(byteRange('bytes=-5', 0, 10), 'none')
  t.equal(byteRange(undefined, 0, 10), null)
  t.equal(byteRange('bytes=9999999999999999-', 5, 10), null)
  t.match(byteRange('bytes=5-', 25, 10), { first: 5, last: 14 })
  t.match(byteRange('bytes=-20', 25, 10), { first: 15, last: 24 })
})

t.test('what is none of this session’s artifacts', async (t) => {
  const table: [name: string, status: number, code: string][] = [
    ['1-nothing.log', 404, 'not_found'],
    ['2-other.log', 404, 'not_found'],
    ['10-x.log', 404, 'not_found'],
    ['..%2fcase.md', 404, 'not_found'],
    ['1-..%2f..%2fcase.md', 404, 'not_found'],
    ['1-%00.log', 404, 'not_found'],
    ['1-link.log', 409, 'unreadable_file'],
    ['1-pipe.log', 409, 'unreadable_file'],
    ['1-folder', 409, 'unreadable_file'],
  ]
  for (const [name, status, code] of table) {
    t.match(await get(at(name)), { status, json: { code } }, name)
  }
  t.match(await app.request('PUT', at('1-say.log'), 'x'), {
    status: 405,
    headers: { allow: 'GET, HEAD' },
  })
})

t.test('a folder that leads elsewhere is not followed', async (t) => {
  const other = await planned(app, { runbook: step('echo hi') })
  symlinkSync(app.file(ref.case_id, 'artifacts'), app.file(other.case_id, 'artifacts'))
  t.match(await get(`${other.path}/artifacts/1-say.log`), { status: 409 })
})

t.test('the log of a step can be read while it grows, and joined with the stream', async (t) => {
  const runbook = step(
    'echo größer; while [ ! -e go ]; do sleep 0.02; done; echo more 1>&2; echo end',
    'sh run id=slow',
  )
  const live = await planned(app, { runbook })
  const events = await stream(app, live)
  await must(app, 'POST', `${live.path}/approve`)
  await says(events, 'größer\n')
  const read = await get(`${live.path}/artifacts/1-slow.log`, { range: 'bytes=0-' })
  t.match(read, { status: 206, text: 'größer\n', headers: { 'content-range': 'bytes 0-8/9' } })
  writeFileSync(`${app.root}/go`, '')
  await events.closed
  const pieces = events.received
    .filter(({ event }) => event === 'session_output')
    .map((event) => envelope(event).payload)
  t.match(pieces[0], { artifact: '1-slow.log', offset: 0, step: 'slow' })
  const behind = pieces.filter(({ offset }) => offset >= read.bytes.length)
  t.equal(read.text + behind.map(({ text }) => text).join(''), 'größer\nmore\nend\n')
  t.equal((await get(`${live.path}/artifacts/1-slow.log`)).text, 'größer\nmore\nend\n')
})

t.test('a report has all of a case in one file that loads and runs nothing', async (t) => {
  const { case_id: id } = ref
  const path = `/cases/${id}`
  const title = 'Tags <script>alert(1)</script> & *stars*'
  const description = '# Why\n\n<img src=x onerror=alert(1)> ![p](https://example.com/p.png)'
  await must(app, 'PUT', path, { title, description })
  const item = { description: 'Seen', type: 'screenshot', required: true }
  await must(app, 'POST', `${path}/proof/checklist`, item)
  const png = pngOf(4, 3)
  const sent = { 'content-type': 'image/png' }
  const { json: proof } = await app.request('POST', `${path}/proof`, png, sent)
  await must(app, 'PUT', `${path}/proof/${proof.id}/verify`)
  await must(app, 'POST', `${path}/proof`, { type: 'log', content: '```\nfence' })

  const html = await app.request('GET', `${path}/report`)
  t.match(html, {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    },
  })
  t.notMatch(html.text, /<script|<img[^>]+onerror|(?:src|srcset)="(?!data:)|<link|@import|url\(/)
  t.match(html.text, `src="data:image/png;base64,${png.toString('base64')}"`)
  const { plan_sha256 } = await must(app, 'GET', ref.path)
  for (const shown of [
    'Tags &lt;script&gt;alert(1)&lt;/script&gt; &amp; *stars*',
    `Seen (screenshot, required): proved by ${proof.id}`,
    `plan ${plan_sha256}`,
    'exit 0, ',
    proof.sha256,
  ]) {
    t.ok(html.text.includes(shown), shown)
  }
  const failed = await planned(app, { runbook: step('echo "<b>out</b>"; exit 1') })
  await finished(app, failed)
  const ofFailed = await app.request('GET', `/cases/${failed.case_id}/report`)
  t.match(ofFailed.text, '&lt;b&gt;out&lt;/b&gt;\n', 'what a step printed that failed')

  const md = await app.request('GET', `${path}/report?format=md`)
  t.match(md, { status: 200, headers: { 'content-type': 'text/markdown; charset=utf-8' } })
  t.match(md.text, /^# Tags \\<script\\>alert\(1\)\\<\/script\\> & \\\*stars\\\*\n/)
  t.match(md.text, '### Why', 'headings of a text stay below that of the report')
  t.match(md.text, `- [x] Seen (screenshot, required): proved by ${proof.id}`)
  t.match(md.text, '````text\n```\nfence\n````')
  const one = await app.request('GET', `${path}/report?format=md&session=${ref.id}`)
  t.ok(md.text.includes(one.text.trim()), 'the part of a session is the same')
  t.match(one.text, /^## Session 1: /)
  t.equal((await app.request('GET', `${path}/report?format=pdf`)).status, 400)
})

t.test('the report of a huge case is cut, and says so', async (t) => {
  const { id } = await app.newCase()
  const lines = Array.from({ length: 2000 }, (_, n) => `A note, number ${n}.`)
  writeFileSync(app.file(id, 'history.md'), `# History\n\n${lines.join('\n\n')}\n`)
  const content = 'x'.repeat(1024 * 1024)
  await must(app, 'POST', `/cases/${id}/proof`, { type: 'log', content })
  const { text } = await app.request('GET', `/cases/${id}/report`)
  t.ok(text.length < 500_000, String(text.length))
  t.match(text, /older lines are left out/)
  t.match(text, /more characters are left out/)
  t.ok(text.includes('number 1999'))
})
