import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type CheckResult, checkWorkspace } from '../../src/check/check-command.ts'
import { reportText } from '../../src/check/report.ts'
import { editedSession, newSessionText } from '../../src/markdown/session-texts.ts'
import { PROBLEM_CODES } from '../../src/model/problem.ts'
import { remedyOf } from '../../src/model/problem-remedies.ts'
import type { Session } from '../../src/model/session.ts'
import type { SessionState } from '../../src/model/session-state.ts'
import type { NewTrailLine } from '../../src/model/trail.ts'
import { numbered } from '../../src/model/trail-lines.ts'
import { takeOwnership } from '../../src/state/owner/ownership.ts'
import { commandsHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { CASE_ID, NOW, SESSION } from '../fixtures/records.ts'
import { clientOf, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const OTHER = '00000000-0000-4000-8000-000000000001'
const PROOF = '11111111-1111-4111-8111-111111111111'
const OK_SHA256 = '2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df'

type Tree = NonNullable<Parameters<Test['testdir']>[0]>

/** A workspace with these cases, and a function that checks it. */
function workspace(t: Test, cases: Tree, more: Record<string, string> = {}) {
  const dir = t.testdir({ root: { memory: { ...GIT_FILES, cases }, ...more } })
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  return {
    root,
    stateDir,
    file: (...names: string[]) => join(root, 'memory/cases', ...names),
    read: (...names: string[]) => readFileSync(join(root, 'memory/cases', ...names), 'utf8'),
    check: (fix = false) => checkWorkspace({ root, stateDir, fix }, process.env, () => NOW),
  }
}

/** A case that has these sessions. */
const having = (sessions: Tree): Tree => ({ [CASE_ID]: { 'case.md': 'A\n', sessions } })

function codesOf({ findings }: Pick<CheckResult, 'findings'>): string[] {
  return findings.map((each) => each.code)
}

const GIT_FILES = {
  '.gitignore': 'latest.md\nindex.md\nartifacts/\n',
  '.gitattributes': '* -text\n',
}

const READY: Session = {
  ...SESSION,
  state: 'plan_ready',
  trail: [...SESSION.trail, ...numbered(SESSION.trail, [moved('planning', 'plan_ready')], NOW)],
}

function moved(old_state: SessionState, new_state: SessionState): NewTrailLine {
  return { event: 'session_state_changed', fields: { old_state, new_state } }
}

/** The text of session 2 when its plan waits. */
async function waiting(fields: Partial<Session> = {}, plan = 'Look.'): Promise<string> {
  const session = { ...READY, ...fields }
  return editedSession(await newSessionText(session), session, { texts: { plan } })
}

async function abandoned(): Promise<string> {
  return editedSession(await waiting(), READY, {
    fields: { state: 'abandoned' },
    lines: numbered(READY.trail, [moved('plan_ready', 'abandoned')], NOW),
    seal: { time: NOW },
  })
}

t.test('every problem is told with its place', async (t) => {
  const plan = 'First.\n\n```sh run timeout=soon\ntrue\n```\n'
  const space = workspace(
    t,
    {
      'not-a-case': {},
      'team.conflict-20261120T095400.000Z.md': 'in the folder of the cases',
      [CASE_ID]: {
        'case.md': '---\ntitle: A\nstate: DONE\n---\n',
        'notes.md': 'one\n<<<<<<< HEAD\ntwo\n=======\nthree\n>>>>>>> other\n',
        sessions: { '2.md': await waiting({}, plan) },
        proof: { [`${PROOF}.md`]: '---\ntype: log\nsha256: 00\nverified: true\n---\n\nx\n' },
      },
    },
    { 'casefile.md': '---\nprovider: runbook\ncolour: red\nsize: big\n---\n' },
  )
  writeFileSync(space.file('..', 'team.conflict-20261120T095400.000Z.md'), 'beside them')
  const { findings } = await space.check()
  const at = `memory/cases/${CASE_ID}`
  t.strictSame(
    findings.map(({ file, line, code }) => [file, line, code]),
    [
      ['casefile.md', 3, 'bad_settings'],
      ['casefile.md', 4, 'bad_settings'],
      [`${at}/case.md`, 3, 'unknown_state'],
      [`${at}/notes.md`, 2, 'merge_conflict'],
      [`${at}/proof/${PROOF}.md`, 3, 'proof_changed'],
      [`${at}/sessions/2.md`, null, 'invalid_plan'],
      ['memory/cases/not-a-case', null, 'bad_name'],
      ['memory/cases/team.conflict-20261120T095400.000Z.md', null, 'conflict_copy'],
      ['memory/team.conflict-20261120T095400.000Z.md', null, 'conflict_copy'],
    ],
  )
  t.strictSame(
    findings.map((each) => each.case_id),
    [null, null, CASE_ID, CASE_ID, CASE_ID, CASE_ID, null, null, null],
  )
  for (const { code, remedy } of findings) t.equal(remedy, remedyOf(code))
  for (const code of PROBLEM_CODES) t.match(remedyOf(code), /^[A-Z].*\.$/, code)
  t.match(reportText(findings), /\n9 problems in 8 files\n$/)
  t.notOk(existsSync(space.stateDir), 'to look makes no state folder')
})

t.test('the exit code says what was found', async (t) => {
  const space = workspace(t, {})
  const env = { CASEFILE_STATE_DIR: space.stateDir, NO_COLOR: '1' }
  const { run: casefile } = commandsHere(t, { root: space.root, env })
  const run = (...args: string[]) => casefile('doctor', '--check', '--root', space.root, ...args)

  await t.test('0: no problems', async (t) => {
    t.match(await run(), { code: 0, stdout: 'no problems\n', stderr: '' })
    t.match(await run('--json'), { code: 0, stdout: '[]\n', stderr: '' })
  })

  await t.test('1: problems, each on a line with its remedy below', async (t) => {
    mkdirSync(space.file(CASE_ID))
    writeFileSync(space.file(CASE_ID, 'case.md'), '---\ntitle: A\nstate: D\u{1b}[31mNE\n---\n')
    const { code, stdout } = await run()
    t.equal(code, 1)
    const [line, remedy, count] = stdout.split('\n')
    t.match(line, `memory/cases/${CASE_ID}/case.md:3: bad_frontmatter: `)
    t.equal(remedy, `    ${remedyOf('bad_frontmatter')}`)
    t.equal(count, '1 problem in 1 file')
    t.notMatch(stdout, '\u{1b}', 'what a file holds does not drive the terminal')
    const [found] = JSON.parse((await run('--json')).stdout)
    t.strictSame(Object.keys(found), ['code', 'file', 'line', 'message', 'remedy', 'case_id'])
    rmSync(space.file('..', '.gitignore'))
    const fixed = await run('--fix', '--json')
    t.match(fixed, { code: 1, stderr: /^fixed: memory\/\.gitignore: created it again\n/ })
    t.equal(fixed.json.length, 1)
  })

  const failures: [what: string, args: string[], said: RegExp][] = [
    ['an option that there is not', ['--colour'], /unknown option '--colour'/],
    ['a workspace that is not there', ['--root', '/nonexistent'], /is not a folder/],
    ['a memory root that is a file', ['--memory-root', process.execPath], /is not a folder/],
  ]
  for (const [what, args, said] of failures) {
    await t.test(`2: ${what}`, async (t) => {
      t.match(await run(...args), { code: 2, stdout: '', stderr: said })
    })
  }
})

t.test('beside a service, what runs there is no problem', inLongLane, async (t) => {
  const { url, root, stateDir } = await openTestService(t)
  const client = clientOf(() => url)
  const ref = await planned(client, { runbook: step('sleep 60') })
  await client.request('POST', `${ref.path}/approve`)
  await reaches(client, ref, 'executing')
  t.strictSame((await checkWorkspace({ root, stateDir }, process.env)).findings, [])
  const elsewhere = await checkWorkspace({ root, stateDir: `${stateDir}-2` }, process.env)
  t.strictSame(codesOf(elsewhere), ['foreign_session'], 'as on any other machine')
})

interface FixCase {
  name: string
  cases: () => Promise<Tree> | Tree
  fixed: RegExp
  /** The file that is fixed, and what has changed in it. */
  file: string[]
  change(text: string): string
}

const fixes: FixCase[] = [
  {
    name: 'the id in a copy of a case',
    cases: () => ({
      [OTHER]: { 'case.md': '# The original\n' },
      [CASE_ID]: { 'case.md': `---\r\ntitle: "Copy"   # mine\r\nid: ${OTHER}\r\n---\r\n\r\nA\r\n` },
    }),
    fixed: /case\.md: id is now .* instead of /,
    file: [CASE_ID, 'case.md'],
    change: (text) => text.replace(OTHER, CASE_ID),
  },
  {
    name: 'case_id of a session and a proof, where case.md says that the folder is right',
    cases: async () => ({
      [CASE_ID]: {
        'case.md': `---\nid: ${CASE_ID}\n---\n\nA\n`,
        sessions: { '2.md': await waiting({ case_id: OTHER }) },
        proof: { [`${PROOF}.md`]: `---\nid: ${OTHER}\ncase_id: ${OTHER}\n---\n\nx\n` },
      },
    }),
    fixed: /proof\/.*: id is now .* instead of .*; case_id is now .* instead of /,
    file: [CASE_ID, 'sessions/2.md'],
    change: (text) => text.replace(OTHER, CASE_ID),
  },
  {
    name: 'a state by hand',
    cases: async () =>
      having({ '2.md': (await waiting()).replace('state: plan_ready', 'state: complete # !') }),
    fixed: /sessions\/2\.md: state is now plan_ready, as in the last line of its audit trail/,
    file: [CASE_ID, 'sessions/2.md'],
    change: (text) => text.replace('state: complete # !', 'state: plan_ready # !'),
  },
  {
    name: 'a state by hand in a sealed session, whose seal then holds',
    cases: async () =>
      having({ '2.md': (await abandoned()).replace('state: abandoned', 'state: complete') }),
    fixed: /state is now abandoned, as in the last line of its audit trail/,
    file: [CASE_ID, 'sessions/2.md'],
    change: (text) => text.replace('state: complete', 'state: abandoned'),
  },
]

for (const { name, cases, fixed, file, change } of fixes) {
  t.test(`--fix fixes ${name}, and no other byte`, async (t) => {
    const space = workspace(t, await cases())
    const before = space.read(...file)
    t.not((await space.check()).findings.length, 0)
    const result = await space.check(true)
    t.strictSame({ left: result.left, findings: result.findings }, { left: [], findings: [] })
    t.match(result.fixed.join('\n'), fixed)
    t.equal(space.read(...file), change(before))
    t.strictSame((await space.check(true)).fixed, [], 'once is enough')
  })
}

const kept: { name: string; cases: () => Promise<Tree> | Tree; codes: string[] }[] = [
  {
    name: 'a case folder that was renamed as a whole',
    cases: () => ({ [CASE_ID]: { 'case.md': `---\nid: ${OTHER}\n---\n\nA\n` } }),
    codes: ['id_mismatch'],
  },
  {
    name: 'a session that was abandoned by hand, which is meant',
    cases: async () =>
      having({ '2.md': (await waiting()).replace('state: plan_ready', 'state: abandoned') }),
    codes: ['state_by_hand'],
  },
  {
    name: 'a sealed session in a copy of its case',
    cases: async () => ({
      [CASE_ID]: { 'case.md': 'A\n', sessions: { '2.md': await abandoned() } },
      [OTHER]: { 'case.md': 'A\n', sessions: { '2.md': await abandoned() } },
    }),
    codes: ['id_mismatch'],
  },
  {
    name: 'a sealed session that was changed in more than its state',
    cases: async () => {
      const text = (await abandoned()).replace('state: abandoned', 'state: complete')
      return having({ '2.md': text.replace('Look.', 'Look!') })
    },
    codes: ['session_changed', 'state_by_hand'],
  },
]

for (const { name, cases, codes } of kept) {
  t.test(`--fix leaves ${name}`, async (t) => {
    const space = workspace(t, await cases())
    const { fixed, findings } = await space.check(true)
    t.notMatch(fixed.join('\n'), /case\.md|sessions\/\d|proof\//)
    t.strictSame(codesOf({ findings }).sort(), codes)
  })
}

t.test('--fix makes a session of a file that was moved to another number', async (t) => {
  const moved = await waiting()
  const space = workspace(t, having({ '7.md': moved }))
  const { fixed, findings } = await space.check(true)
  t.match(fixed.join('\n'), /sessions\/7\.md: session 2 is now session 7/)
  t.strictSame(findings, [])
  t.match(space.read(CASE_ID, 'sessions/7.md'), /^number: 7$[\s\S]*renumbered from=2 to=7/m)

  const text = await abandoned()
  await t.test('but not of a sealed one', async (t) => {
    const space = workspace(t, having({ '7.md': text }))
    t.strictSame(codesOf(await space.check(true)), ['id_mismatch'])
    t.equal(space.read(CASE_ID, 'sessions/7.md'), text)
  })
  await t.test('but not of a copy', async (t) => {
    const sessions = { '2.md': text, '7.md': text }
    const space = workspace(t, having(sessions))
    t.strictSame(codesOf(await space.check(true)), ['id_mismatch'])
    t.equal(space.read(CASE_ID, 'sessions/7.md'), text)
  })
})

t.test('--fix lets latest.md lead to the newest session', async (t) => {
  const sessions = { '2.md': await waiting(), '10.md': await waiting({ id: PROOF, number: 10 }) }
  const space = workspace(t, having(sessions))
  const latest = space.file(CASE_ID, 'sessions/latest.md')
  t.strictSame((await space.check()).findings, [], 'that there is none is no problem')
  t.match((await space.check(true)).fixed.join('\n'), /latest\.md: it points to session 10/)
  t.equal(readlinkSync(latest), '10.md')
  t.strictSame((await space.check(true)).fixed, [])
  rmSync(latest)
  symlinkSync('2.md', latest)
  const [wrong] = (await space.check()).findings
  t.match(wrong, {
    code: 'wrong_latest',
    message: 'the link points to 2.md; the newest session is 10.md',
  })
  t.strictSame(codesOf(await space.check(true)), [])

  await t.test('and keeps what an editor put in its place', async (t) => {
    const space = workspace(t, having(sessions))
    writeFileSync(space.file(CASE_ID, 'sessions/latest.md'), 'my own words\n')
    const { fixed, findings } = await space.check(true)
    t.match(fixed.join('\n'), /points to session 10 again; .* kept as a conflict copy$/)
    t.strictSame(codesOf({ findings }), ['conflict_copy'])
    const copy = findings[0]!.file.split('/').at(-1)!
    t.equal(space.read(CASE_ID, 'sessions', copy), 'my own words\n')
  })
})

t.test('--fix brings back the git files, and takes half-written ones away', async (t) => {
  const temp = '.casefile-999999-0123456789ab.tmp'
  const dir = t.testdir({
    root: {
      memory: { '.gitattributes': '*.md text\n', cases: { [CASE_ID]: { 'case.md': 'A\n' } } },
    },
    state: {},
  })
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  const memoryRoot = join(root, 'memory')
  const left = join(memoryRoot, 'cases', CASE_ID, temp)
  writeFileSync(left, 'half')
  symlinkSync('nowhere', join(memoryRoot, temp))
  const fix = () => checkWorkspace({ root, stateDir, fix: true }, process.env)

  const owner = await takeOwnership({ memoryRoot, stateDir })
  t.match((await fix()).fixed.join('\n'), /\.gitignore: created it again/)
  t.ok(existsSync(left), 'it may be that of the service')
  await owner.release()
  t.match((await fix()).fixed.join('\n'), /removed 2 half-written files/)
  t.strictSame(readdirSync(memoryRoot).sort(), ['.gitattributes', '.gitignore', 'cases'])
  t.notOk(existsSync(left))
  const attributes = join(memoryRoot, '.gitattributes')
  t.equal(readFileSync(attributes, 'utf8'), '*.md text\n', 'as it was')
  writeFileSync(attributes, '* -text\nhistory.md merge=union\n')
  t.match((await fix()).fixed.join('\n'), /\.gitattributes: diffs fold artifacts and proof now/)
  t.match(readFileSync(attributes, 'utf8'), /^cases\/\*\/proof\/\*\* linguist-generated$/m)
})

t.test('a folder without cases is nothing to check, and gets none', async (t) => {
  const root = t.testdir({ other: {} })
  const check = (options: object) =>
    checkWorkspace({ root, stateDir: join(root, '../state-of-nothing'), ...options }, process.env)
  const nothing = { code: 'not_found', message: /no cases in .*--root.*--memory-root/ }
  await t.rejects(check({ fix: true }), nothing)
  for (const memoryRoot of ['other', 'not-there']) await t.rejects(check({ memoryRoot }), nothing)
  t.strictSame(readdirSync(root), ['other'])
  const env = { CASEFILE_STATE_DIR: join(root, '../state-of-nothing') }
  t.match(await commandsHere(t, { root, env }).run('doctor', '--check'), {
    code: 2,
    stderr: /check failed.*no cases/,
  })
  writeFileSync(join(root, 'casefile.md'), '---\nprovider: runbook\n---\n')
  const nothingFound = { fixed: [], left: [], findings: [], notes: [] }
  t.strictSame(await check({}), nothingFound, 'a new workspace is one')
})

t.test('a copy of a resolved case takes no proof along', async (t) => {
  const proof = (id: string) =>
    `---\nid: ${PROOF}\ncase_id: ${id}\ntype: log\nverified: true\nsha256: ${OK_SHA256}\n---\n\n\`\`\`\nok\n\`\`\`\n`
  const files = () => ({
    'case.md': `---\nid: ${CASE_ID}\ntitle: Door\nstate: RESOLVED\n---\n\nIt squeaks.\n`,
    proof: { [`${PROOF}.md`]: proof(CASE_ID) },
  })
  const root = t.testdir({ root: { memory: { cases: { [CASE_ID]: files(), [OTHER]: files() } } } })
  const options = { root: join(root, 'root'), stateDir: join(root, 'state') }
  const { fixed, findings } = await checkWorkspace({ ...options, fix: true }, process.env)
  t.ok(JSON.stringify(fixed).includes(`id is now ${OTHER}`), 'the copy gets an id of its own')
  const found = findings.map(({ code, file }) => `${code} ${file.split('/').slice(2).join('/')}`)
  t.same(found.sort(), [`id_mismatch ${OTHER}/proof/${PROOF}.md`, `proof_gate ${OTHER}/case.md`])
})

t.test('a record that git keeps out of the working tree cannot be checked', async (t) => {
  const clone = (t: Test, patterns: string[]) => {
    const { root, stateDir } = workspace(t, {
      [CASE_ID]: { 'case.md': '# A\n', 'notes.md': 'x\n' },
    })
    const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'pipe' })
    writeFileSync(join(root, 'casefile.md'), '# Settings\n')
    git('init', '--quiet')
    git('add', '.')
    git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '--quiet', '-m', 'all')
    git('sparse-checkout', 'set', '--no-cone', ...patterns)
    return { root, check: () => checkWorkspace({ root, stateDir }, process.env, () => NOW) }
  }
  const left = { code: 'not_found', message: /could not be checked: a sparse checkout leaves out/ }
  await t.test('all of it', async (t) => {
    const { root, check } = clone(t, ['/casefile.md'])
    t.notOk(existsSync(join(root, 'memory')))
    await t.rejects(check(), left)
    const env = { CASEFILE_STATE_DIR: join(root, '../state') }
    const said = await commandsHere(t, { root, env }).run('doctor', '--check')
    t.match(said, { code: 2, stderr: /could not be checked/ })
  })
  await t.test('a file of a case', async (t) => {
    await t.rejects(clone(t, ['/*', '!notes.md']).check(), left)
  })
  await t.test('what is not of the record does not matter', async (t) => {
    await t.resolves(clone(t, ['/memory/']).check())
  })
})

t.test('index.md is written only where git ignores it, which check says', async (t) => {
  const app = await openTestService(t, {
    files: { memory: { '.gitignore': 'latest.md\n', cases: {} } },
  })
  const run = () => checkWorkspace({ root: app.root, stateDir: app.stateDir }, process.env)
  const index = join(app.memory, 'index.md')
  await app.close()
  t.ok(existsSync(index), 'without a repository')
  t.same((await run()).notes, [])
  execFileSync('git', ['init', '--quiet', app.root])
  const exclude = join(app.root, '.git/info/exclude')
  const before = readFileSync(exclude, 'utf8')
  rmSync(index)
  await app.restart()
  await app.newCase({ title: 'A' })
  await app.close()
  t.notOk(existsSync(index))
  t.match(app.log.join('\n'), /index\.md is not written: git does not ignore it/)
  t.match((await run()).notes, [/^memory\/index\.md is not written: .* \.gitignore/])
  writeFileSync(join(app.memory, '.gitignore'), 'latest.md\nindex.md\n')
  await app.restart()
  await app.close()
  t.match(readFileSync(index, 'utf8'), '1 case')
  t.same((await run()).notes, [])
  t.equal(readFileSync(exclude, 'utf8'), before, "the repository's own list is nobody's")
})
