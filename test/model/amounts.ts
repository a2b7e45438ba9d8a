import t from 'tap'
import { counted, sizeText, spanText } from '../../src/model/amounts.ts'
import { durationsText, sessionDurations } from '../../src/model/session-durations.ts'
import type { TrailLine } from '../../src/model/trail.ts'

t.test('amounts as people read them', async (t) => {
  t.strictSame(
    [0, 1, 2].map((count) => counted(count, 'file')),
    ['0 files', '1 file', '2 files'],
  )
  t.equal(counted(2, 'older one is', 'older ones are'), '2 older ones are')
  const sizes: [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [4200, '4.1 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [2 * 1024 * 1024, '2.0 MiB'],
  ]
  for (const [bytes, text] of sizes) t.equal(sizeText(bytes), text)
  const spans: [number, string][] = [
    [840, '840 ms'],
    [2700, '2.7 s'],
    [125_000, '2 min 5 s'],
    [47 * 3_600_000, '47 h'],
    [(94 * 60 + 32) * 60_000, '3 d 22 h'],
  ]
  for (const [ms, text] of spans) t.equal(spanText(ms), text)
})

t.test('a session planned, waited and ran', async (t) => {
  const states = ['created', 'planning', 'plan_ready', 'approved', 'executing', 'failed']
  const ms = [0, 100, 150, 345_600_150, 345_600_250, 345_602_850]
  const trail = states.map((new_state, index): TrailLine => {
    const line = { number: index + 1, time: new Date(ms[index]!).toISOString() }
    return index === 0
      ? { ...line, event: 'session_created', fields: {} }
      : { ...line, event: 'session_state_changed', fields: { new_state } }
  })
  const whole = { planned_ms: 150, waited_ms: 345_600_000, ran_ms: 2700 }
  t.strictSame(sessionDurations(trail), whole)
  t.equal(durationsText(whole), 'planned 150 ms, waited 4 d, ran 2.7 s')
  const waiting = { planned_ms: 150, waited_ms: null, ran_ms: null }
  t.strictSame(sessionDurations(trail.slice(0, 3)), waiting, 'what goes on is not counted')
  t.equal(durationsText(sessionDurations([])), '')
})
