import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { readDatedRecord } from '../../src/runners/agents/dated-record.ts'

const isRecord = (name: string) => name === 'x.jsonl'
const DAY = '2026/11/24'

/** A folder of records, with the day in it, and what it says. */
function records(t: Test) {
  const top = t.testdir({ sessions: {}, outside: { 'x.jsonl': 'outside' } })
  const day = `${top}/sessions/${DAY}`
  mkdirSync(day, { recursive: true })
  return {
    top,
    day,
    file: `${day}/x.jsonl`,
    read: () => readDatedRecord(`${top}/sessions`, isRecord),
  }
}

t.test('a record is found by its day, the newest first', async (t) => {
  const { top, file, read } = records(t)
  t.equal(await read(), null, 'there is none')
  mkdirSync(`${top}/sessions/2025/12/31`, { recursive: true })
  writeFileSync(`${top}/sessions/2025/12/31/x.jsonl`, 'old')
  t.strictSame(await read(), { text: 'old' })
  writeFileSync(file, 'new')
  t.strictSame(await read(), { text: 'new' })
  t.equal(await readDatedRecord(`${top}/missing`, isRecord), null)
  t.equal(await readDatedRecord(file, isRecord), null, 'no folder')
})

t.test('the folder of records may be a link that its user made', async (t) => {
  const { top, file } = records(t)
  writeFileSync(file, 'new')
  symlinkSync(`${top}/sessions`, `${top}/link`)
  t.strictSame(await readDatedRecord(`${top}/link`, isRecord), { text: 'new' })
})

t.test('what an agent may put there instead is not read', async (t) => {
  t.test('a link to a file elsewhere', async (t) => {
    const { top, file, read } = records(t)
    symlinkSync(`${top}/outside/x.jsonl`, file)
    t.equal(await read(), null)
  })
  t.test('a link to a folder elsewhere', async (t) => {
    const { top, read } = records(t)
    symlinkSync(`${top}/outside`, `${top}/sessions/2026/11/25`)
    t.equal(await read(), null)
  })
  t.test('a pipe', async (t) => {
    const { file, read } = records(t)
    execFileSync('mkfifo', [file])
    t.equal(await read(), null)
  })
  t.test('a huge file', async (t) => {
    const { file, read } = records(t)
    writeFileSync(file, '')
    truncateSync(file, 10 ** 12)
    t.equal(await read(), 'too_large')
  })
})
