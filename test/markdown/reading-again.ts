import { deepEqual } from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { readCase } from '../../src/markdown/case-file.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import { readProof } from '../../src/markdown/proof-file.ts'
import { readSession } from '../../src/markdown/session-file.ts'
import { newSessionText, readSessionTexts } from '../../src/markdown/session-texts.ts'
import { readSettings } from '../../src/markdown/settings-file.ts'
import { readTrail } from '../../src/markdown/trail.ts'
import { inLongLane, isFull } from '../fixtures/full.ts'
import { CASE_ID, NOW, SESSION } from '../fixtures/records.ts'

t.teardown(useParser())

// RELIABILITY.md YM-2 in full
const FILES = isFull ? 10_000 : 1000

const origin = { id: CASE_ID, created_at: NOW }
const ofSession = { ...origin, case_id: CASE_ID, number: 1, case_title: 'x' }
const CASE = `---\ntitle: A\ntags: [a, b]\n---\n\n> quoted\n\n## Proof checklist\n\n- [ ] Passes (test-log, required)\n`
const PLAN = '1. List\n\n```sh run id=one expect=0,1\necho\n```\n'
const SETTINGS =
  '---\nenv: [A]\nsteps: [x]\ntimeout: { plan: 1m }\nproviders:\n  mine: { kind: command, plan: [a], work: [b] }\n---\n\nWords\n'

const SESSION_TEXT = await newSessionText(SESSION)

/** Every reader of a file, with a text that it reads, and one that it does not. */
const readers: [name: string, read: (text: string) => unknown, good: string, bad: string][] = [
  ['a case', (text) => readCase(text, origin), CASE, CASE.replace('[a, b]', '[a, b')],
  ['a session', (text) => readSession(text, ofSession), SESSION_TEXT, '---\nid: {\n---\n'],
  ['its texts', (text) => readSessionTexts(text, SESSION), SESSION_TEXT, '---\nid: {\n---\n'],
  ['a trail', readTrail, SESSION_TEXT, 'nothing'],
  [
    'a proof',
    (text) => readProof(text, ofSession),
    '---\ntype: log\n---\n\n```text\nx\n```\n',
    '---\na: *b\n---\n',
  ],
  ['a plan', readPlan, PLAN, '```sh run timeout=never\n```\n'],
  ['settings', readSettings, SETTINGS, '---\nenv: [\n---\n'],
  ['no settings', readSettings, 'Words\n', ''],
]

/** Puts something else wherever there is room, at every depth. */
function spoil(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  if (value instanceof Map) {
    for (const each of value.values()) spoil(each, seen)
    value.clear()
    return
  }
  for (const key of Object.keys(value)) spoil((value as Record<string, unknown>)[key], seen)
  if (Object.isFrozen(value)) return
  if (Array.isArray(value)) value.push('spoilt')
  else for (const key of Object.keys(value)) (value as Record<string, unknown>)[key] = 'spoilt'
}

t.test('what a caller does to what was read is in no later reading', async (t) => {
  for (const [name, read, ...texts] of readers) {
    await t.test(name, async () => {
      for (const text of texts) {
        const first = structuredClone(await read(text))
        for (let turn = 0; turn < 3; turn++) {
          const again = await read(text)
          deepEqual(structuredClone(again), first)
          spoil(again)
        }
      }
    })
  }
})

const BROKEN: [name: string, text: string][] = [
  ['an open bracket', '---\ntitle: A\ntags: [a\n---\n'],
  ['no end', '---\ntitle: A\n'],
  ['an alias', '---\ntitle: &a A\ntype: *a\n---\n'],
  ['a key twice', '---\ntitle: A\ntitle: B\n---\n'],
  ['another language', '---js\n({})\n---\n'],
]

t.test(`${FILES} different files leave at most 50 MiB behind`, inLongLane, async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const readAll = async (from: number, count: number) => {
    for (let n = from; n < from + count; n++) {
      await readCase(`${CASE.replace('A', `A ${n}`)}\n${'more '.repeat(200)}\n`, origin)
      await readCase(BROKEN[n % 5]![1] + n, origin)
      readSession(SESSION_TEXT.replace('times out', `times out ${n}`), ofSession)
      readSettings(`${SETTINGS}\n${n}\n`)
      // by the parser in its worker, whose answers are kept
      if (n % 10 === 0) await readPlan(`${PLAN}${n}\n`)
    }
  }
  await readAll(0, 500)
  const before = heap()
  await readAll(500, FILES)
  const more = heap() - before
  t.comment(`${more.toFixed(1)} MiB more than ${before.toFixed(1)}`)
  t.ok(more < 50)
})
