import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { exportStatements } from '../../src/verify/export.ts'
import { commandsOn } from '../fixtures/cli.ts'
import { finished, must, planned, type Ref, step } from '../fixtures/session-client.ts'
import {
  type ClaimedRepository,
  openRepository,
  provedWork,
} from '../fixtures/verify/claimed-work.ts'
import {
  type PublishedStatement,
  readStatements,
  statementSchema,
} from '../fixtures/verify/in-toto.ts'
import type { TestService } from '../fixtures/workspace.ts'

interface Wanted {
  runbook: string
  /** Attaches this artifact as proof, and so seals the session. */
  proof?: 'test-log' | 'log'
  /** Verifies the proof; with a reason, accepts it. */
  verify?: true | string
}

/** A case with this title whose session ran to its end. */
async function worked(service: TestService, title: string, { runbook, proof, verify }: Wanted) {
  const checklist = [{ description: 'It works', type: proof ?? 'test-log', required: true }]
  const ref = await planned(service, { runbook, fields: { title, checklist } })
  const { session } = await finished(service, ref)
  if (proof === undefined) return ref
  const api = `/cases/${ref.case_id}/proof`
  const { artifact } = session.candidates[0]
  const made = await must(service, 'POST', api, { type: proof, session_id: ref.id, artifact })
  const body = typeof verify === 'string' ? { accept: verify } : {}
  if (verify !== undefined) await must(service, 'PUT', `${api}/${made.id}/verify`, body)
  return ref
}

/** The sealed sessions' statements, strictly read. */
async function exported(root: string, ...cases: string[]) {
  const lines: string[] = []
  const { missing } = await exportStatements({ root, cases }, async (statement) => {
    lines.push(JSON.stringify(statement))
    return true
  })
  return { statements: readStatements(lines.join('\n')), missing }
}

function titled(statements: readonly PublishedStatement[], title: string): PublishedStatement {
  return statements.find(
    ({ predicate }) => predicate.configuration[0]?.annotations?.case_title === title,
  )!
}

t.test('export --in-toto has a statement for each sealed session', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  const commit = repo.commit(`Change the price\n\n${work.trailer}\n`)
  const tap = (line: string) => `${line}\n1..1`
  await worked(service, 'Waits for proof', { runbook: step('true', 'sh run id=only') })
  await worked(service, 'Failed', { runbook: step('exit 7', 'sh run id=breaks') })
  await worked(service, 'Not verified', {
    runbook: step(`echo '${tap('ok 1 - fine')}'`, 'sh run id=test proof=tap'),
    proof: 'test-log',
  })
  await worked(service, 'Known failure', {
    runbook: step(
      `echo '${tap('not ok 1 - known | <b>')}'; exit 1`,
      'sh run id=test proof=tap expect=1',
    ),
    proof: 'test-log',
    verify: 'It is another case.',
  })
  await worked(service, 'Went on', {
    runbook: `${step('exit 3', 'sh run id=lint continue=true')}\n${step('echo fine', 'sh run id=look proof=log')}`,
    proof: 'log',
    verify: true,
  })
  const abandoned = await planned(service, {
    runbook: step('true', 'sh run'),
    fields: { title: 'Given up' },
  })
  await must(service, 'POST', `${abandoned.path}/abandon`)
  const broken = await provedWork(service, 'tax.js')
  await service.close()

  const { statements, missing } = await exported(repo.root)
  t.strictSame(missing, [])
  t.strictSame(
    statements.map(({ predicate }) => [
      predicate.configuration[0]!.annotations!.case_title,
      predicate.result,
    ]),
    [
      ['Change price.js', 'PASSED'],
      ['Failed', 'FAILED'],
      ['Not verified', 'WARNED'],
      ['Known failure', 'FAILED'],
      ['Went on', 'WARNED'],
      ['Given up', 'FAILED'],
      ['Change tax.js', 'PASSED'],
    ],
    'oldest first, and none for a session that is not sealed',
  )

  t.test('of a session that a commit names, the commit is the subject', async (t) => {
    const { subject, predicate } = titled(statements, 'Change price.js')
    t.strictSame(subject, [{ digest: { gitCommit: commit } }])
    t.strictSame(predicate.passedTests, [
      'step: change',
      'step: test',
      'checklist: Tests pass',
      'completed',
      'sealed',
      'proved',
    ])
    t.strictSame([predicate.warnedTests, predicate.failedTests], [[], []])
    const file = `memory/cases/${work.ref.case_id}/sessions/1.md`
    const [session, plan, proof, ...others] = predicate.configuration
    t.match(session, { name: file, annotations: { session: 1, state: 'complete', tests_run: 1 } })
    t.match(plan, {
      name: `${file}#plan`,
      annotations: { approved_by: /./, approved_via: 'api', approved_at: /^20/, signature: 'none' },
    })
    t.match(proof, {
      name: `memory/cases/${work.ref.case_id}/proof/${work.proofId}.md#content`,
      annotations: { type: 'test-log', verified: true, session: 1, accepted: undefined },
    })
    t.strictSame(others, [])
  })

  t.test('of another, its file is', async (t) => {
    const { subject, predicate } = titled(statements, 'Failed')
    const { name, digest } = predicate.configuration[0]!
    t.strictSame(subject, [{ name, digest }])
    t.match(name, /^memory\/cases\/.*\/sessions\/1\.md$/)
  })

  t.test('what failed, and what is noted, is named', async (t) => {
    const listed = (title: string) => titled(statements, title).predicate
    t.match(listed('Failed').failedTests, ['step: breaks', 'completed'])
    t.match(listed('Given up').failedTests, ['completed'])
    t.match(listed('Not verified').warnedTests, ['checklist: It works', 'proved'])
    t.match(listed('Known failure').failedTests, ['test: known | <b>'])
    t.match(listed('Known failure').passedTests, ['step: test', 'checklist: It works'])
    t.match(listed('Known failure').configuration[2], {
      annotations: { accepted: 'It is another case.' },
    })
    t.match(listed('Went on').warnedTests, ['step: lint'])
    t.match(listed('Went on').passedTests, ['step: look'])
  })

  t.test('a broken seal fails, in an edited copy', async (t) => {
    const copy = repo.copy('broken')
    copy.edit(copy.file(broken.ref.case_id, 'sessions/1.md'), ' via=api', ' via=cli')
    const [statement] = (await exported(copy.root, 'tax.js')).statements
    t.match(statement!.predicate, { result: 'FAILED', failedTests: ['sealed'] })
  })

  t.test('a session that cannot be read is named, and the others are exported', async (t) => {
    const copy = repo.copy('unreadable')
    writeFileSync(copy.file(broken.ref.case_id, 'sessions/1.md'), Buffer.from([0xff, 0xfe, 0x00]))
    const { statements: left, missing } = await exported(copy.root)
    t.equal(left.length, statements.length - 1)
    t.match(missing, [/^Session 1 of case .* cannot be read/])
  })

  await t.test('a trailer of another plan names no session', async (t) => {
    const copy = repo.copy('other-plan')
    copy.commit(`Tax\n\n${broken.trailer.replace(/plan=.*/, 'plan=0123456789ab')}\n`)
    const [statement] = (await exported(copy.root, 'tax.js')).statements
    t.match(statement!.subject, [{ digest: { sha256: String } }])
  })

  await t.test('the record may be elsewhere, and git missing', async (t) => {
    const copy = repo.copy('elsewhere/code')
    mkdirSync(join(copy.root, '../record'))
    renameSync(join(copy.root, 'memory'), join(copy.root, '../record/memory'))
    renameSync(join(copy.root, '.git'), join(copy.root, '../record/.git'))
    const lines: PublishedStatement[] = []
    const places = { root: copy.root, memoryRoot: join(copy.root, '../record/memory') }
    await exportStatements({ ...places, cases: ['price.js'] }, async (statement) => {
      lines.push(statementSchema.parse(statement))
      return true
    })
    t.match(lines[0]!.subject, [{ name: `cases/${work.ref.case_id}/sessions/1.md` }])
  })

  await t.test('files have the same names outside git', async (t) => {
    const copy = repo.copy('no-git')
    rmSync(join(copy.root, '.git'), { recursive: true })
    const [statement] = (await exported(copy.root, 'price.js')).statements
    const { configuration } = titled(statements, 'Change price.js').predicate
    t.strictSame(statement!.predicate.configuration, configuration)
  })

  await byTheProgram(t, repo, work.ref, statements)
})

async function byTheProgram(
  t: Test,
  repo: ClaimedRepository,
  ref: Ref,
  statements: readonly PublishedStatement[],
) {
  const cli = commandsOn(t, {
    root: repo.root,
    env: { CASEFILE_STATE_DIR: join(repo.root, '../no-state'), NODE_OPTIONS: '' },
  })
  await t.test('the program prints one line for each', async (t) => {
    const all = await cli.run('export', '--in-toto')
    t.match(all, { code: 0, stderr: '' })
    t.strictSame(readStatements(all.stdout), statements)
    const one = await cli.run('export', '--in-toto', ref.case_id.slice(0, 13))
    t.strictSame(readStatements(one.stdout), statements.slice(0, 1))
    const none = await cli.run('export', '--in-toto', 'Waits for proof', 'price.js')
    t.match(none, { code: 0, stderr: /^casefile: "Waits for proof" .* no sealed session/ })
    t.strictSame(readStatements(none.stdout), statements.slice(0, 1))
    t.match(await cli.run('export', '--in-toto', 'no such case'), { code: 3, stderr: /No case/ })
    t.match(await cli.run('export', '--in-toto', 'change'), { code: 3, stderr: /matches 2 cases/ })
    const lines = (await cli.run('export', 'price.js')).stdout.split('\n')
    t.match(JSON.parse(lines[0]!).title, /price\.js/, 'without --in-toto, the case itself')
    t.strictSame(lines.slice(1), [''])
  })
}

t.test('verify --in-toto has a statement for each claim', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  const commit = repo.commit(`Change the price\n\n${work.trailer}\n`)
  const unknown = work.trailer.replace(/[0-9a-f]{8}-/, '00000000-')
  writeFileSync(join(repo.root, 'other.js'), '1\n')
  const second = repo.commit(`Others\n\n${unknown}\nCasefile-Session: \u202e what?\n`)
  const cli = commandsOn(t, { root: repo.root, env: { CASEFILE_STATE_DIR: '', NODE_OPTIONS: '' } })
  const { code, stdout } = await cli.run('verify-commits', 'HEAD~2..', '--in-toto')
  t.equal(code, 1)
  t.notMatch(stdout, '\u202e', 'nothing that a terminal acts on')
  const statements = readStatements(stdout)
  const [exportedOne] = (await exported(repo.root)).statements
  t.strictSame(
    statements[2]!.predicate.configuration,
    exportedOne!.predicate.configuration,
    'as export --in-toto describes the session, its plan and its proofs',
  )
  t.match(statements[2]!.predicate.configuration[2], {
    name: `memory/cases/${work.ref.case_id}/proof/${work.proofId}.md#content`,
  })
  t.match(
    statements.map(({ subject, predicate }) => ({ subject, ...predicate })),
    [
      {
        subject: [{ digest: { gitCommit: second } }],
        result: 'FAILED',
        failedTests: [/^record 00000000-/],
      },
      { subject: [{ digest: { gitCommit: second } }], failedTests: ['trailer \u202e what?'] },
      {
        subject: [{ digest: { gitCommit: commit } }],
        result: 'PASSED',
        configuration: [{ name: `memory/cases/${work.ref.case_id}/sessions/1.md` }, {}, {}],
        passedTests: ['trailer', 'record', 'approved', 'plan', 'completed', 'sealed'],
        failedTests: [],
      },
    ],
  )
})

t.test('a statement with anything else is none', async (t) => {
  const subject = [{ digest: { gitCommit: 'a'.repeat(40) } }]
  const predicate = { result: 'PASSED', configuration: [] }
  const good = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
    predicate,
  }
  t.ok(statementSchema.safeParse(good).success)
  const bad: object[] = [
    { more: 1 },
    { subject: [] },
    { subject: [{ name: 'a' }] },
    { subject: [{ digest: { gitCommit: 'A'.repeat(40) } }] },
    { subject: [{ digest: { sha256: 'a'.repeat(40) } }] },
    { subject: [{ ...subject[0], path: 'a' }] },
    { predicate: { ...predicate, result: 'passed' } },
    { predicate: { ...predicate, passed_tests: [] } },
    { predicate: { ...predicate, passedTests: [null] } },
    { predicate: { ...predicate, configuration: [{ name: 'only a name' }] } },
    {
      predicate: { ...predicate, configuration: [{ ...subject[0], annotations: { a: [1] } }] },
    },
    { predicate: { ...predicate, url: null } },
  ]
  for (const change of bad) {
    t.notOk(statementSchema.safeParse({ ...good, ...change }).success, JSON.stringify(change))
  }
})
