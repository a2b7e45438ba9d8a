// What a run leaves in the folder of artifacts, and what its steps and others put there.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findRepository } from '../../src/git/repository.ts'
import { startDiff } from '../../src/sessions/folder-diff.ts'
import { createRedactor } from '../../src/sessions/redaction.ts'
import { inLongLane } from '../fixtures/full.ts'
import { git, must, planned, ran, reaches, step } from '../fixtures/session-client.ts'
import { partsOf } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ARTIFACTS = 'memory/cases/$CASEFILE_CASE/artifacts'
const PASSES = "printf '1..1\\nok 1 - a\\n'"
const namesOf = ({ candidates }: { candidates: { artifact: string }[] }) =>
  candidates.map(({ artifact }) => artifact)

const CODE = { f: 'a\nb\nc\n', gone: 'x\ny\n', '.gitignore': 'ignored\n', ignored: '' }
const service = await openTestService(t, {
  files: { f: 'a\n', pkg: CODE, other: { x: '1\n' } },
  mount: false,
})

t.test('a session whose files get in its way still ends', inLongLane, async (t) => {
  const wait = (more: string) =>
    step('until test -e go; do sleep 0.1; done; rm go') + step(more, 'sh run id=more')
  const begun = async (more: string) => {
    const ref = await planned(service, { runbook: wait(more) })
    await must(service, 'POST', `${ref.path}/approve`)
    await reaches(service, ref, 'executing')
    return ref
  }
  const goOn = () => writeFileSync(join(service.root, 'go'), '')

  const ref = await begun('echo second')
  const [file, own] = ['case.md', 'artifacts'].map((name) => service.file(ref.case_id, name))
  const text = readFileSync(file!, 'utf8')
  mkdirSync(own!, { recursive: true })
  writeFileSync(join(own!, '1-more.log'), 'mine')
  writeFileSync(file!, '---\ntitle: [\n---\n')
  goOn()
  await reaches(service, ref, 'complete')
  t.equal(readFileSync(join(own!, '1-more.log'), 'utf8'), 'mine')
  writeFileSync(file!, text.replace(/^state: .*$/m, 'state: IMPLEMENTING'))
  const session = await must(service, 'GET', ref.path)
  t.match(session, { state: 'complete', problems: [], output: /^- more: exit 0, /m })
  t.strictSame(namesOf(session), ['1-more-2.log'], 'what somebody put there is no evidence')
  await service.restart()
  t.match(
    await must(service, 'GET', `/cases/${ref.case_id}`),
    { state: 'VERIFYING' },
    'a case.md that was broken when the session completed is moved by the next start',
  )

  const broken = await begun('echo more; touch done')
  const path = service.file(broken.case_id, 'sessions', '1.md')
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, '')
  t.match(await must(service, 'GET', broken.path), {
    state: 'executing',
    problems: [{ code: 'unreadable' }],
  })
  goOn()
  const conflict = `<<<<<<< HEAD\n${whole}=======\n>>>>>>> x\n`
  writeFileSync(path, conflict)
  t.match(await must(service, 'GET', broken.path), {
    state: 'executing',
    problems: [{ code: 'merge_conflict' }],
  })
  t.notOk(existsSync(join(service.root, 'done')), 'no step begins before it can be recorded')
  t.equal(readFileSync(path, 'utf8'), conflict, 'it is not written over')
  writeFileSync(path, whole)
  await reaches(service, broken, 'complete')
  t.match(await must(service, 'GET', broken.path), {
    output: /^- more: exit 0, /m,
    problems: { length: 0 },
  })
})

t.test('what a step does to the artifacts without mounts is no evidence', async (t) => {
  git(service.root, 'init', '-q')
  const put = (id: string, replace: string) =>
    step(`echo said; f=${ARTIFACTS}/1-${id}.log; rm "$f"; ${replace}`, `sh run id=${id}`)
  const forge = `cd ${ARTIFACTS}; for f in 1-a.log 1-a.tap 1-b.tap; do printf "1..1\\nok 1\\n" > $f; done
printf "1..1\\nnot ok 1\\n" > 1-d.tap; printf "1..2\\nok 1\\nok 2\\n" > 1-test.tap; echo mine > 1-changes.patch`
  const { ref, session, events } = await ran(
    service,
    [
      put('link', 'ln -s /etc/hostname "$f"'),
      put('folder', 'mkdir "$f"'),
      put('pipe', 'mkfifo "$f"'),
      step('true', 'sh run id=a proof=tap'),
      step('echo only here >&2', 'sh run id=b proof=tap'),
      step(PASSES, 'sh run id=test proof=tap'),
      step(forge, 'sh run id=forge'),
      step(PASSES, 'sh run id=d proof=tap'),
      step('echo b > f; git init -q sub; echo x > sub/f; echo next', 'sh run id=next'),
    ].join(''),
  )
  t.match(session, {
    state: 'complete',
    problems: { length: 0 },
    tests: { run: 1, passed: 1, failed: 0 },
    diff: { file: 'f', additions: 1 },
  })
  const parts = partsOf(service, ref, session.output)
  for (const [id, why] of [
    ['link', 'ELOOP'],
    ['folder', 'EISDIR'],
    ['pipe', 'EINVAL'],
  ])
    t.match(
      parts[id!],
      new RegExp(`^\\[exit 0, .*, artifacts/1-${id}\\.log could not be read: ${why}`),
    )
  t.match(parts.test, ', artifacts/1-test.tap is not what its step left')
  t.match(parts.b, 'only here')
  t.match(session.candidates, [
    { artifact: '1-b.log', type: 'test-log', note: /^no TAP in the output, exit 0/ },
    { artifact: '1-d-2.tap', note: '1 of 1 test passed' },
    { artifact: '1-next.log' },
    { artifact: '1-changes-2.patch', note: '1 file, +1 −1' },
  ])
  t.equal(session.candidates.length, 4)
  t.equal(session.candidates[0].why_not, session.candidates[0].note)
  const text = (name: string) => readFileSync(service.file(ref.case_id, 'artifacts', name), 'utf8')
  t.equal(text('1-changes.patch'), 'mine\n', 'a patch that is there already stays')
  t.match(text('1-changes-2.patch'), /^\+b$/m)
  const taken = events.find(({ event_type }) => event_type === 'diff_taken')?.payload
  t.match(taken, { first: [/sub/], warnings: 1 }, 'what git could not read is told')

  const attach = (artifact: string, number = 1) =>
    service.request('POST', `/cases/${ref.case_id}/proof`, { type: 'test', artifact, number })
  for (const [name, isCandidate] of [
    ['1-d-2.tap', true],
    ['1-changes-2.patch', true],
    ['1-test.tap', false],
  ] as const) {
    const path = service.file(ref.case_id, 'artifacts', name)
    const before = readFileSync(path)
    writeFileSync(path, '1..2\nok 1 - a\nok 2 - b\n')
    const detail = isCandidate
      ? `artifacts/${name} is not what its step left: something changed it afterwards, so it does not count. Run the session again, or attach what you saw as text.`
      : /is not a proof candidate/
    t.match(await attach(name), { status: 400, json: { detail } })
    writeFileSync(path, before)
    t.equal((await attach(name)).status, isCandidate ? 201 : 400, `${name}, as it was`)
  }

  const script = `echo c > f; rm -r ${ARTIFACTS}; echo > ${ARTIFACTS}`
  const none = await ran(service, step(script))
  t.match(none.session, { state: 'complete', diff: { file: 'f' }, candidates: [] })
  const told = none.events.find(({ event_type }) => event_type === 'diff_taken')?.payload
  t.match(told.first[0], /^no patch: /, 'where there is no place for it')

  const place = {
    layout: service.service.layout,
    exclude: [],
    scope: { paths: null, commands: null },
    prefix: '',
    redactor: createRedactor({}),
    case_id: 'x',
    index: null,
    number: 1,
  }
  const repository = await findRepository(service.root, {})
  for (const [scratch, signal, reason] of [
    ['f', new AbortController().signal, /file is in its place/],
    ['scratch', AbortSignal.abort(), /session was stopped/],
  ] as const) {
    const taker = await startDiff(repository, {
      ...place,
      scratch: join(service.root, scratch),
      signal,
    })
    t.match(await taker.finish(), { reason })
    await taker.close()
  }
})

t.test('the diff is exact', async (t) => {
  const change =
    'printf "a\\nB\\nc\\n" > f; echo new > untracked; rm gone; echo not >> ignored; printf "x\\0" > bin'
  const expected = {
    additions: 2,
    deletions: 3,
    files: [
      { file: 'bin', additions: 0, deletions: 0 },
      { file: 'f', additions: 1, deletions: 1 },
      { file: 'gone', additions: 0, deletions: 2 },
      { file: 'untracked', additions: 1, deletions: 0 },
    ],
  }
  const { root } = service
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON
  const sorted = (diff: any) => ({
    ...diff,
    files: diff.files?.sort((a: { file: string }, b: { file: string }) =>
      a.file < b.file ? -1 : 1,
    ),
  })
  const fields = { workdir: 'pkg' }
  rmSync(join(root, 'sub'), { recursive: true })
  git(root, 'add', '.')
  git(root, 'commit', '-qm', 'first')
  writeFileSync(join(root, 'pkg/mine'), 'not committed, and there before\n')
  const { ref, session } = await ran(
    service,
    step(
      `${change}; echo 2 > ../other/x; git add f; git -c user.name=T -c user.email=t@e.x commit -qm own`,
    ),
    { fields },
  )
  t.equal(session.state, 'complete', session.output)
  t.match(sorted(session.diff), expected)
  t.equal(session.diff.files.length, 4)
  t.notMatch(JSON.stringify(session.diff), /mine|ignored|memory|other/, 'nothing beside it')
  const patch = readFileSync(service.file(ref.case_id, 'artifacts', '1-changes.patch'), 'utf8')
  t.match(patch, /deleted file[\s\S]*new file/)
  t.notMatch(git(root, 'status', '--porcelain'), /^A/m, 'the index is the user’s own')
})
