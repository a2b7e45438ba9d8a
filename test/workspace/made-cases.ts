import {
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { toldOfCase } from '../../src/events/told-marks.ts'
import { lookAtCase } from '../../src/workspace/case-look.ts'
import { makeCase } from '../../src/workspace/kept/made-case.ts'
import { makeCases } from '../../src/workspace/kept/made-cases.ts'
import { layoutOf } from '../../src/workspace/layout.ts'
import { plainLook } from '../../src/workspace/plain-look.ts'
import { createReadPass, createStabilityDetector } from '../../src/workspace/sync/stability.ts'
import { readTrailMemory } from '../../src/workspace/trail-memory.ts'
import { openTestService } from '../fixtures/workspace.ts'

const SAMPLE = fileURLToPath(new URL('../../sample-workspace/memory', import.meta.url))
const THREAD = new URL('../../src/events/making-thread.ts', import.meta.url)
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const caseMd = (title: string, more = '') => `---\ntitle: ${title}\n---\n${more}`

/** The tick in which a stamp does not tell every change is over. */
const settled = () => delay(80)

/** Of nothing a trail is remembered. */
const trails = readTrailMemory('/nowhere')

/** What a start that reads one case after the other finds. */
function looked(root: string, id: string) {
  const layout = layoutOf(root, join(root, 'memory'))
  const needs = {
    ...{ layout, isHeld: () => false, isGits: () => false },
    ...{ trails, lastText: () => null, isInGit: async () => false },
    lastGood: { remember() {}, recall: () => null, forget() {} },
  }
  return lookAtCase(needs, id, undefined, createReadPass(createStabilityDetector(), 'anything'))
}

const SESSION_TEXT = `---\nid: 55555555-5555-4555-8555-555555555555\nnumber: 2\n---\n`
const PROOF = '44444444-4444-4444-8444-444444444444'

/** A plain case, and what is odd about others, made in their folder. */
const ODD: Record<string, (folder: string) => void> = {
  'no case.md': (folder) => renameSync(join(folder, 'case.md'), join(folder, 'other.txt')),
  'an empty case.md': (folder) => writeFileSync(join(folder, 'case.md'), ' \n'),
  'a broken case.md': (folder) => writeFileSync(join(folder, 'case.md'), '---\ntitle: "\n---\n'),
  'no UTF-8': (folder) => writeFileSync(join(folder, 'case.md'), Buffer.from([0xff, 0x0a])),
  'the id of another case': (folder) =>
    writeFileSync(join(folder, 'case.md'), `---\nid: ${idOf(0)}\ntitle: Copy\n---\n`),
  'an unknown state': (folder) =>
    writeFileSync(join(folder, 'case.md'), '---\ntitle: One\nstate: ODD\n---\n'),
  'a body that only the parser can read': (folder) =>
    writeFileSync(
      join(folder, 'case.md'),
      caseMd('One', '\n<div>\n\n## Proof checklist\n\n</div>\n\n## Proof checklist\n\n- [ ] a\n'),
    ),
  'a note with conflict markers': (folder) =>
    writeFileSync(join(folder, 'notes.md'), '<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n'),
  'a note that is a folder': (folder) => mkdirSync(join(folder, 'notes.md')),
  'a note that is a link': (folder) => symlinkSync('case.md', join(folder, 'notes.md')),
  'an empty note': (folder) => writeFileSync(join(folder, 'notes.md'), ''),
  'sessions that is a link': (folder) => symlinkSync('..', join(folder, 'sessions')),
  'sessions that is a file': (folder) => writeFileSync(join(folder, 'sessions'), ''),
  'a conflict copy': (folder) =>
    writeFileSync(join(folder, 'case.conflict-20261120T095400.000Z.md'), 'x'),
  'a file that a killed service left': (folder) =>
    writeFileSync(join(folder, '.casefile-1-0123456789ab.tmp'), 'x'),
  'a session that is broken': (folder) => {
    mkdirSync(join(folder, 'sessions'))
    writeFileSync(join(folder, 'sessions', '1.md'), '---\nid: [\n---\n')
  },
  'a session that is another’s': (folder) => {
    mkdirSync(join(folder, 'sessions'))
    writeFileSync(join(folder, 'sessions', '1.md'), SESSION_TEXT)
  },
  'latest.md that is a file': (folder) => {
    mkdirSync(join(folder, 'sessions'))
    writeFileSync(join(folder, 'sessions', 'latest.md'), SESSION_TEXT)
  },
  'a proof that was changed': (folder) => {
    mkdirSync(join(folder, 'proof'))
    writeFileSync(
      join(folder, 'proof', `${PROOF}.md`),
      '---\nverified: true\nsha256: 00\n---\n```\none\n```\n',
    )
  },
  'a proof with little in it': (folder) => {
    mkdirSync(join(folder, 'proof'))
    writeFileSync(join(folder, 'proof', `${PROOF}.md`), 'one\n')
  },
  'artifacts and what is no memory file': (folder) => {
    mkdirSync(join(folder, 'artifacts'))
    writeFileSync(join(folder, 'data.json'), '{}')
  },
}

t.test('a plain case is found as it is by a look at its files', async (t) => {
  const root = t.testdir({ memory: {} })
  cpSync(SAMPLE, join(root, 'memory'), { recursive: true, verbatimSymlinks: true })
  const layout = layoutOf(root, join(root, 'memory'))
  const sample = readdirSync(layout.cases)
  const names = ['nothing', ...Object.keys(ODD)]
  for (const [n, name] of names.entries()) {
    const folder = layout.caseFolder(idOf(n))
    mkdirSync(folder)
    writeFileSync(join(folder, 'case.md'), caseMd(name, `\nIt has ${name}.\n`))
    ODD[name]?.(folder)
  }
  await settled()
  const plain: string[] = []
  for (const [id, name] of [
    ...sample.map((id): [string, string] => [id, id]),
    ...names.map((name, n): [string, string] => [idOf(n), name]),
  ]) {
    const found = plainLook(layout, id, trails)
    if (!found) continue
    plain.push(name)
    const entry = await looked(root, id)
    t.strictSame(found.entry, entry, name)
    t.strictSame([...found.entry.folders], [...entry!.folders], `${name}: in this order`)
    t.strictSame(Object.keys(found.texts), [
      'case.md',
      ...[...entry!.sessions.keys()].map((number) => `sessions/${number}.md`),
    ])
  }
  t.ok(
    sample.some((id) => plain.includes(id)),
    'of the sample too',
  )
  t.strictSame(
    plain.filter((name) => name in ODD || name === 'nothing'),
    [
      'nothing',
      'an empty note',
      'a proof with little in it',
      'artifacts and what is no memory file',
    ],
  )
})

t.test('what was changed only just now is left to a look that says so', async (t) => {
  const root = t.testdir({ memory: { cases: { [idOf(1)]: {} } } })
  const layout = layoutOf(root, join(root, 'memory'))
  writeFileSync(layout.caseFile(idOf(1)), caseMd('One'))
  await settled()
  t.ok(plainLook(layout, idOf(1), trails))
  utimesSync(layout.caseFile(idOf(1)), 1, 1)
  t.equal(plainLook(layout, idOf(1), trails), null)
})

t.test('threads read the same cases as one alone, each once', async (t) => {
  const count = 300
  const cases = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      idOf(n),
      { 'case.md': n % 10 === 0 ? '---\n' : caseMd(`Case ${n}`) },
    ]),
  )
  const root = t.testdir({ memory: { cases } })
  const layout = layoutOf(root, join(root, 'memory'))
  const ids = Object.keys(cases)
  await settled()
  const alone = ids
    .map((id) => makeCase(layout, id, toldOfCase, trails))
    .filter((made) => made !== null)
  t.equal(alone.length, count * 0.9)
  const needs = {
    layout,
    trails: '/nowhere',
    toldOf: toldOfCase,
    thread: THREAD,
    log: (line: string) => t.fail(line),
  }
  for (const perThread of [10, 1000]) {
    const made = new Map<string, unknown>()
    await makeCases(ids, { ...needs, perThread }, (some) => {
      for (const each of some) {
        t.notOk(made.has(each.id))
        made.set(each.id, each)
      }
    })
    t.strictSame([...made.keys()].sort(), alone.map(({ id }) => id).sort())
    for (const each of alone) t.strictSame(made.get(each.id), each)
  }
})

t.test('what a thread that fails has taken is read all the same', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [idOf(n), { 'case.md': caseMd(`Case ${n}`) }]),
  )
  const root = t.testdir({ memory: { cases: files } })
  const layout = layoutOf(root, join(root, 'memory'))
  await settled()
  const said: string[] = []
  const made: string[] = []
  await makeCases(
    Object.keys(files),
    {
      ...{
        layout,
        trails: '/nowhere',
        toldOf: toldOfCase,
        perThread: 10,
        log: (line: string) => said.push(line),
      },
      thread: new URL('../fixtures/failing-thread.ts', import.meta.url),
    },
    (some) => made.push(...some.map(({ id }) => id)),
  )
  t.ok(said.every((line) => /a thread that reads cases failed: .*no more/.test(line)))
  t.equal(new Set(made).size, made.length)
  t.ok(made.length <= 40, 'the others are left to a look at each')
})

t.test(
  'a first start lays what is plain and looks at the rest; what was lost is read anew, and an edit told once',
  async (t) => {
    const cases = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        idOf(n),
        { 'case.md': n === 7 ? '---\ntitle: "\n---\n' : caseMd(`Case ${n}`) },
      ]),
    )
    const app = await openTestService(t, { files: { memory: { cases } } })
    await app.close()
    rmSync(app.stateDir, { recursive: true })
    await settled()
    await app.restart()
    const { catalog } = app.service
    t.equal(catalog.ids().filter((id) => catalog.kept(id)).length, 19, 'rest from the beginning')
    const listed = async () => (await app.request('GET', '/cases')).json
    const list: { id: string; title: string; problems: unknown[] }[] = await listed()
    t.strictSame(
      list.map(({ id, title }) => [id, title]).sort(),
      Object.keys(cases).map((id, n) => [id, n === 7 ? id : `Case ${n}`]),
    )
    t.strictSame(
      list.filter(({ problems }) => problems.length > 0).map(({ id }) => id),
      [idOf(7)],
    )
    t.equal(catalog.letGo(), 19, 'their JSON was at hand')
    t.equal(catalog.letGo(), 0)
    t.strictSame(await listed(), list, 'the same where it is kept')
    const before = app.service.eventLog.last
    t.equal(before, 0, 'nothing is told')
    await app.close()
    writeFileSync(join(app.memory, 'cases', idOf(3), 'case.md'), caseMd('Another title'))
    rmSync(join(app.stateDir, 'kept'), { recursive: true })
    await settled()
    await app.restart()
    t.equal(app.service.eventLog.last, 1)
    t.equal((await app.request('GET', `/cases/${idOf(3)}`)).json.title, 'Another title')
    await app.restart()
    t.equal(app.service.eventLog.last, 1)
  },
)
