import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { editedSession, newSessionText } from '../../src/markdown/session-texts.ts'
import type { Session } from '../../src/model/session.ts'
import { inLongLane } from '../fixtures/full.ts'
import { CASE_ID, SESSION } from '../fixtures/records.ts'
import { git } from '../fixtures/session-client.ts'
import { changeState, PUT_RUN } from '../fixtures/state-rows.ts'

const [ID_A, ID_B, ID_C] = ['a', 'b', 'c'].map((digit) => SESSION.id.replace(/./, digit)) as [
  string,
  string,
  string,
]
const NOON = '2026-11-20T12:00:00.000Z'

/** A session 2 whose plan waits; with `sealed` one that was abandoned. */
async function sessionText(fields: Partial<Session>, sealed = false): Promise<string> {
  const at = fields.started_at ?? SESSION.started_at
  const session: Session = { ...SESSION, state: 'planning', ...fields }
  session.trail = [
    { number: 1, time: at, event: 'session_created', fields: { type: session.type } },
    {
      number: 2,
      time: at,
      event: 'session_state_changed',
      fields: { old_state: 'created', new_state: 'plan_ready' },
    },
  ]
  session.state = 'plan_ready'
  const texts = {
    plan: `Look at session 2 of ${session.id}.\n\n## Not a section\n`,
    candidates: [{ artifact: '2-test.tap', note: '2-test.tap says 47 of 47' }],
  }
  const text = await editedSession(await newSessionText(session), session, { texts })
  if (!sealed) return text
  return editedSession(text, session, {
    fields: { state: 'abandoned' },
    lines: [
      {
        number: 3,
        time: at,
        event: 'session_state_changed',
        fields: { old_state: 'plan_ready', new_state: 'abandoned' },
      },
    ],
    seal: { time: at },
  })
}

interface Workspace {
  root: string
  stateDir: string
  sessions: string
  git(...args: string[]): string
  /** Commits `sessions/<number>.md`, and what else there is, on a branch. */
  commit(branch: string, text: string, number?: number): void
  read(number: number): string
  check(fix?: boolean): ReturnType<typeof checkWorkspace>
}

const made = new Map<string, string>()

/** A copy of a repository: with one case and the branch `main`, or what `make` did to that. */
async function workspace(
  t: Test,
  name = '',
  make: (space: Workspace) => unknown = () => {},
): Promise<Workspace> {
  if (!made.has(name)) {
    const folder = mkdtempSync(join(tmpdir(), 'casefile-check-'))
    made.set(name, folder)
    if (name === '') {
      const memory = join(folder, 'memory')
      mkdirSync(join(memory, 'cases', CASE_ID), { recursive: true })
      writeFileSync(join(memory, '.gitignore'), 'latest.md\nindex.md\nartifacts/\n')
      writeFileSync(join(memory, '.gitattributes'), '* -text\n')
      writeFileSync(join(memory, 'cases', CASE_ID, 'case.md'), '# A case\n')
      writeFileSync(join(memory, 'cases', CASE_ID, 'history.md'), '')
      git(folder, 'init', '--quiet')
      git(folder, 'add', '--all')
      git(folder, 'commit', '--quiet', '--message', 'case')
    } else {
      const { root } = await workspace(t)
      cpSync(root, folder, { recursive: true })
      await make(spaceAt(folder))
    }
  }
  const root = join(t.testdir(), 'root')
  cpSync(made.get(name)!, root, { recursive: true })
  return spaceAt(root)
}
t.teardown(() => {
  for (const folder of made.values()) rmSync(folder, { recursive: true })
})

function spaceAt(root: string): Workspace {
  const stateDir = join(root, '../state')
  const sessions = join(root, 'memory/cases', CASE_ID, 'sessions')
  const run = (...args: string[]) => git(root, ...args)
  return {
    root,
    stateDir,
    sessions,
    git: run,
    commit(branch, text, number = 2) {
      run('checkout', '--quiet', '-B', branch)
      mkdirSync(sessions, { recursive: true })
      writeFileSync(join(sessions, `${number}.md`), text)
      run('add', '--all')
      run('commit', '--quiet', '--message', branch)
    },
    read: (number) => readFileSync(join(sessions, `${number}.md`), 'utf8'),
    check: (fix = false) =>
      checkWorkspace({ root, stateDir, fix }, process.env, () => '2026-11-21T08:00:00.000Z'),
  }
}

function mustConflict(run: () => unknown): void {
  try {
    run()
  } catch {
    return
  }
  throw new Error('git found no conflict')
}

/** `main` with the one session 2, and a merge of a branch with the other under way. */
function merging(t: Test, ours: string, theirs: string, style = 'merge'): Promise<Workspace> {
  return workspace(t, `${style}\n${ours}\n${theirs}`, (space) => {
    space.git('config', 'merge.conflictStyle', style)
    space.commit('theirs', theirs)
    space.git('checkout', '--quiet', 'main')
    space.commit('main', ours)
    mustConflict(() => space.git('merge', '--quiet', 'theirs'))
  })
}

const early = { id: ID_B, started_at: '2026-11-20T08:00:00.000Z' }
const late = { id: ID_A, started_at: NOON }

for (const sealed of [false, true]) {
  const name = sealed ? 'two sealed sessions' : 'two sessions whose plans wait'
  t.test(`${name} under one number become two`, async (t) => {
    const [a, b] = [await sessionText(early, sealed), await sessionText(late, sealed)]
    const space = await merging(t, b, a, sealed ? 'diff3' : 'merge')
    const { fixed, left, findings } = await space.check(true)
    t.strictSame({ left, findings }, { left: [], findings: [] })
    t.match(fixed.join('\n'), /git add sessions\/2\.md sessions\/3\.md history\.md$/m)
    t.equal(space.read(2), a, 'the earlier one, though it is theirs')
    const expected = b
      .replace('number: 2', 'number: 3')
      .replace('# Session 2:', '# Session 3:')
      .replace('- `2-test.tap`: 2-test.tap says', '- `3-test.tap`: 2-test.tap says')
      .replace(/^4\. \S+ session_sealed.*\n/m, '')
      .replace(/\n<\/details>\n$/, '')
    t.equal(space.read(3).slice(0, expected.length), expected, 'nothing else is changed')
    const lines = space.read(3).slice(expected.length)
    t.match(
      lines,
      sealed
        ? /^5\. \S+ renumbered from=2 to=3 was_sealed=\w{64}\n6\. \S+ session_sealed sha256=\w{64}\n\n<\/details>\n$/
        : /^3\. 2026-11-21T08:00:00\.000Z renumbered from=2 to=3\n\n<\/details>\n$/,
    )
    if (sealed)
      t.strictSame(await space.check(true), { fixed: [], left: [], findings: [], notes: [] })
  })
}

t.test('which one of the same time is the earlier is the same in both clones', async (t) => {
  const [a, b] = [ID_A, ID_B].map((id) => sessionText({ started_at: NOON, id }))
  const space = await merging(t, await b!, await a!)
  await space.check(true)
  t.match(space.read(2), `id: ${ID_A}`)
  t.match(space.read(3), `id: ${ID_B}`)
})

t.test('three clones, merged one after the other', inLongLane, async (t) => {
  const space = await merging(t, await sessionText(late), await sessionText(early))
  await space.check(true)
  space.git('add', '--all')
  space.git('commit', '--quiet', '--message', 'merged')
  const third = { id: ID_C, started_at: '2026-11-20T10:00:00.000Z' }
  space.git('checkout', '--quiet', 'main~2')
  space.commit('third', await sessionText(third))
  space.git('checkout', '--quiet', 'main')
  mustConflict(() => space.git('merge', '--quiet', 'third'))
  t.strictSame((await space.check(true)).findings, [])
  const ids = [2, 3, 4].map((number) => /^id: (.)/m.exec(space.read(number))?.[1])
  t.strictSame(ids, ['b', 'a', 'c'], 'what is merged already keeps its number')
})

t.test('two numbers that both branches made are taken apart one by one', async (t) => {
  const space = await workspace(t)
  const other = (id: string) => `${id.slice(0, -1)}9`
  space.commit('theirs', await sessionText(early))
  space.commit('theirs', await sessionText({ ...early, id: other(ID_B), number: 3 }), 3)
  space.git('checkout', '--quiet', 'main')
  space.commit('main', await sessionText(late))
  space.commit('main', await sessionText({ ...late, id: other(ID_A), number: 3 }), 3)
  mustConflict(() => space.git('merge', '--quiet', 'theirs'))
  t.strictSame((await space.check(true)).findings, [])
  const ids = [2, 3, 4, 5].map((number) => /^id: (\S+)/m.exec(space.read(number))?.[1])
  t.strictSame(ids, [ID_B, other(ID_B), ID_A, other(ID_A)])
})

t.test('the same after a rebase', async (t) => {
  const space = await workspace(t)
  space.commit('theirs', await sessionText(early))
  space.git('checkout', '--quiet', 'main')
  space.commit('main', await sessionText(late))
  mustConflict(() => space.git('rebase', '--quiet', 'theirs'))
  const artifacts = join(space.sessions, '../artifacts')
  mkdirSync(artifacts)
  writeFileSync(join(artifacts, '2-test.tap'), 'of this clone')
  t.strictSame((await space.check(true)).findings, [])
  t.match(space.read(2), `id: ${ID_B}`)
  t.match(space.read(3), `id: ${ID_A}`)
  t.strictSame(readdirSync(artifacts), ['3-test.tap'], 'what is brought is what was made here')
})

t.test('artifacts go with the session of this clone, and with no other', async (t) => {
  const space = await merging(t, await sessionText(early), await sessionText(late))
  const artifacts = join(space.sessions, '../artifacts')
  mkdirSync(artifacts)
  writeFileSync(join(artifacts, '2-test.tap'), 'of the earlier one')
  await space.check(true)
  t.strictSame(readdirSync(artifacts), ['2-test.tap'])
})

t.test('a conflict that a person has begun to resolve is kept beside', async (t) => {
  const space = await merging(t, await sessionText(early), await sessionText(late))
  const begun = space.read(2).replace(`session 2 of ${ID_B}`, 'my own words') // on one side
  writeFileSync(join(space.sessions, '2.md'), begun)
  const { findings, fixed } = await space.check(true)
  t.match(fixed.join('\n'), /kept as 2\.conflict-20261121T080000\.000Z\.md/)
  const copy = join(space.sessions, '2.conflict-20261121T080000.000Z.md')
  t.equal(readFileSync(copy, 'utf8'), begun)
  t.strictSame(
    findings.map((each) => each.code),
    ['conflict_copy'],
  )
  rmSync(copy)
  t.strictSame((await space.check()).findings, [])
})

t.test('a fix that was cut short goes on where it was', async (t) => {
  const space = await merging(t, await sessionText(early), await sessionText(late))
  const conflict = space.read(2)
  await space.check(true)
  writeFileSync(join(space.sessions, '2.md'), conflict) // as if only session 3 had been written
  t.strictSame((await space.check(true)).findings, [])
  t.strictSame(readdirSync(space.sessions).sort(), ['2.md', '3.md', 'latest.md'])
})

const refused: {
  name: string
  ours?: Partial<Session>
  change?: (text: string) => string
  message: RegExp
}[] = [
  {
    name: 'one of which was changed after its seal',
    change: (text) => text.replace('Look at', 'Look hard at'),
    message: /both created session 2, but one of them is not valid: .*changed after it was sealed/,
  },
  {
    name: 'one of which has no id of its own',
    change: (text) => text.replace(/^id: .*\n/m, '').replace(/^4\. \S+ session_sealed.*\n/m, ''),
    message: /one of them is not valid: it has no id/,
  },
  {
    name: 'that are one session, changed on both sides',
    ours: { id: ID_A, started_at: NOON, case_title: 'Another title' },
    message: /git left conflict markers/,
  },
]
for (const { name, ours = early, change = (text: string) => text, message } of refused) {
  t.test(`two files ${name}, stay a conflict`, async (t) => {
    const theirs = change(await sessionText(late, true))
    const space = await merging(t, await sessionText(ours, true), theirs)
    const conflict = space.read(2)
    const { findings } = await space.check(true)
    t.match(findings, [{ code: 'merge_conflict', message }])
    t.equal(space.read(2), conflict)
    t.strictSame(readdirSync(space.sessions), ['2.md', 'latest.md'])
  })
}

t.test('a conflict in one session that both sides had is nothing for a new number', async (t) => {
  const space = await workspace(t)
  const [above, below] = (await sessionText(late)).split('## Hypothesis\n')
  const text = `${above}## Hypothesis\n\nLook at it.\n${below}`
  space.commit('main', text)
  space.commit('theirs', text.replace('Look at', 'Look well at'))
  space.git('checkout', '--quiet', 'main')
  space.commit('main', text.replace('Look at', 'Look soon at'))
  mustConflict(() => space.git('merge', '--quiet', 'theirs'))
  const { findings } = await space.check(true)
  t.match(findings, [{ code: 'merge_conflict', message: /git left conflict markers/ }])
  t.strictSame(readdirSync(space.sessions), ['2.md', 'latest.md'])
})

t.test('a session that runs on this machine is left alone', async (t) => {
  const space = await merging(t, await sessionText(early), await sessionText(late))
  const run = { session_id: ID_A, case_id: CASE_ID, number: 2, mark: 'x' }
  await changeState(space.stateDir, PUT_RUN, ID_A, JSON.stringify(run))
  const { findings } = await space.check(true)
  t.match(findings, [{ message: /one of them is running on this machine/ }])
  t.strictSame(readdirSync(space.sessions), ['2.md', 'latest.md'])
})
