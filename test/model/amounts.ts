import t from 'tap'
import { counted, sizeText, spanText } from '../../src/model/amounts.ts'
import {
  durationsText,
  runPartsText,
  sessionDurations,
  stepsTime,
} from '../../src/model/session-durations.ts'
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

const NONE = { planned_ms: null, waited_ms: null, ran_ms: null }

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
  const at = (ms: number, event: string, new_state?: string) =>
    ({ number: ms, time: new Date(ms).toISOString(), event, fields: { new_state } }) as TrailLine
  const queued = [
    at(0, 'session_created'),
    at(1, 'session_state_changed', 'plan_ready'),
    at(3, 'session_state_changed', 'approved'),
    at(3, 'queued'),
    at(10, 'session_state_changed', 'executing'),
    at(30, 'session_state_changed', 'complete'),
  ]
  t.strictSame(sessionDurations(queued), { planned_ms: 1, waited_ms: 9, ran_ms: 20 }, 'in line')
})

t.test('a run is the time of its steps, and what comes before and after', async (t) => {
  t.equal(durationsText({ ...NONE, ran_ms: 47_000, steps_ms: 20_000 }), 'ran 47 s (steps 20 s)')
  t.equal(durationsText({ ...NONE, ran_ms: 20_400, steps_ms: 20_000 }), 'ran 20 s', 'too little')
  t.match(runPartsText(47_000, 20_000), /^Steps: 20 s\. Before and after: 27 s,/)
  t.equal(runPartsText(47_000, null), undefined)
  const at = (second: number, event: string, fields: object) =>
    ({ number: 1, time: new Date(second * 1000).toISOString(), event, fields }) as TrailLine
  const trail = [
    at(0, 'session_created', {}),
    at(1, 'step_finished', { step: 'plan', duration_ms: 900 }),
    at(2, 'plan_approved', {}),
    at(2, 'session_state_changed', { new_state: 'executing' }),
    at(8, 'step_finished', { step: 'fix', duration_ms: 2000 }),
    at(30, 'step_finished', { step: 'test', duration_ms: 18_000 }),
    at(49, 'session_state_changed', { new_state: 'complete' }),
  ]
  t.equal(stepsTime({ trail }), 20_000, 'planning is no part of it')
  t.equal(stepsTime({ trail, origin: 'terminal' }), null)
  t.equal(stepsTime({ trail: trail.slice(0, -1) }), null)
})
