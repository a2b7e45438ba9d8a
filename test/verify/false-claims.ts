import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import { env } from '../fixtures/git-repository.ts'
import {
  type Claimed,
  type ClaimedRepository,
  isLineOf,
  openRepository,
  provedWork,
  repeatWork,
  sealAgain,
  withForgedTrail,
} from '../fixtures/verify/claimed-work.ts'

const NEW_ID = '11111111-2222-4333-8444-555555555555'

/** What somebody may do to make a commit look approved and proved. */
interface Forgery {
  /** Changes the files of one case, or gives another trailer. */
  forge(repo: ClaimedRepository, work: Claimed, other: Claimed): unknown
  /** In a commit after the one that claims the session; `again`: a third commit claims it, with the trailer it gives. */
  when?: 'later' | 'again'
  failures: { code: string; message: RegExp }[]
  note?: RegExp
}

const sessionFile = (repo: ClaimedRepository, { ref }: Claimed) =>
  repo.file(ref.case_id, 'sessions/1.md')
const proofFile = (repo: ClaimedRepository, { ref, proofId }: Claimed) =>
  repo.file(ref.case_id, `proof/${proofId}.md`)

function editTrail(path: string, forge: (lines: string[]) => string[]): void {
  writeFileSync(path, withForgedTrail(readFileSync(path, 'utf8'), forge))
}

/** Another way of the approval. */
function forgeApproval(repo: ClaimedRepository, work: Claimed): void {
  editTrail(sessionFile(repo, work), (lines) =>
    lines.map((line) =>
      isLineOf(line, 'plan_approved') ? line.replace('via=api', 'via=console') : line,
    ),
  )
}

const SEALED = {
  code: 'seal_broken',
  message: /was sealed in commit [0-9a-f]{10}, and its file is another one now/,
}
const LINE = { code: 'trail_changed', message: /\d+ \(plan_approved, in commit [0-9a-f]{10}\)/ }

const FORGERIES: Record<string, Forgery> = {
  'the trailer of another case': {
    forge: (_repo, _work, other) => other.trailer,
    failures: [{ code: 'other_files', message: /Session 1 changed no file of this commit/ }],
  },
  'a plan that was never approved': {
    forge: (_repo, { trailer }) => trailer.replace(/plan=.*/, 'plan=0123456789ab'),
    failures: [
      {
        code: 'other_plan',
        message: /names the plan 0123456789ab; approved was the plan [0-9a-f]{12} of session 1/,
      },
    ],
  },
  'a session that does not exist': {
    forge: (_repo, { trailer }) => trailer.replace('/1 ', '/9 '),
    failures: [{ code: 'no_session', message: /has no session 9/ }],
  },
  'a case that does not exist': {
    forge: (_repo, { trailer }) =>
      trailer.replace(/[0-9a-f-]{36}/, '00000000-0000-4000-8000-000000000000'),
    failures: [{ code: 'no_case', message: /no case 00000000-/ }],
  },
  'a trailer that cannot be read': {
    forge: () => 'Casefile-Session: the first one',
    failures: [{ code: 'bad_trailer', message: /"the first one"/ }],
  },
  'a trailer that only looks like one': {
    forge: (_repo, { trailer }) => trailer.replace('Casefile-S', 'Casefile\u2010\u0405'),
    failures: [{ code: 'bad_trailer', message: /not exactly.*Expected: Casefile-Session:/ }],
  },
  'an approval line that was put in, and the seal left': {
    forge: (repo, work) =>
      repo.edit(
        sessionFile(repo, work),
        /^(\d+)(\. \S+) plan_approved .*$/m,
        '$&\n$1$2 note text=forged',
      ),
    failures: [{ code: 'seal_broken', message: /sealed hash/ }],
  },
  'a line of the trail removed, and sealed again': {
    forge(repo, work) {
      repo.edit(sessionFile(repo, work), /^\d+\. \S+ guarded .*\n/m, '')
      sealAgain(sessionFile(repo, work))
    },
    failures: [{ code: 'trail_gap', message: /line \d+ is missing/ }],
  },
  'an approval of another text, and sealed again': {
    forge(repo, work) {
      const path = sessionFile(repo, work)
      repo.edit(path, /(plan_approved .*?plan_sha256=)[0-9a-f]{64}/, `$1${'0'.repeat(64)}`)
      repo.edit(path, /^(plan_sha256: )[0-9a-f]{64}/m, `$1${'0'.repeat(64)}`)
      sealAgain(path)
    },
    failures: [{ code: 'trail_gap', message: /approves another text/ }],
  },
  'the plan in the file replaced, and sealed again': {
    forge(repo, work) {
      repo.edit(sessionFile(repo, work), "echo 'changed by a session'", "echo 'something else'")
      sealAgain(sessionFile(repo, work))
    },
    failures: [{ code: 'plan_changed', message: /not the text that was approved/ }],
  },
  'states that do not follow, and sealed again': {
    forge(repo, work) {
      repo.edit(
        sessionFile(repo, work),
        / session_started .*state=executing/,
        ' session_state_changed old_state=planning new_state=executing',
      )
      sealAgain(sessionFile(repo, work))
    },
    failures: [
      {
        code: 'trail_gap',
        message: /goes from planning to executing, but the session was approved/,
      },
    ],
  },
  'a sealed session written anew after it was committed': {
    when: 'later',
    forge(repo, work) {
      repo.edit(sessionFile(repo, work), 'via=api', 'via=console')
      sealAgain(sessionFile(repo, work))
    },
    failures: [
      {
        code: 'seal_broken',
        message: /was sealed in commit [0-9a-f]{10}, and its file is another one now/,
      },
    ],
  },
  'the content of a proof replaced': {
    forge: (repo, work) => repo.edit(proofFile(repo, work), 'ok 1 - it works', 'ok 1 - it is fine'),
    failures: [{ code: 'proof_missing', message: /content was changed/ }],
  },
  'another content under a proof that git has': {
    when: 'later',
    forge(repo, work) {
      const path = proofFile(repo, work)
      repo.edit(path, 'ok 1 - it works', 'ok 1 - it is fine')
      const content = /```[^\n]*\n([\s\S]*?)\n```/.exec(readFileSync(path, 'utf8'))![1]!
      repo.edit(path, /^sha256: .*$/m, `sha256: ${sha256(content)}`)
    },
    failures: [
      { code: 'proof_changed', message: /has another content than in commit [0-9a-f]{10}/ },
    ],
  },
  'a report that no service has counted': {
    forge: (repo, work) => repo.edit(proofFile(repo, work), /^tests: .*\n/m, ''),
    failures: [
      {
        code: 'proof_missing',
        message:
          /not counted yet\. To continue, let a service count it \(casefile serve\) and commit/,
      },
    ],
  },
  'no proof at all': {
    forge: (repo, work) => rmSync(proofFile(repo, work)),
    failures: [
      { code: 'proof_missing', message: /verified proof of type test-log for "Tests pass"/ },
    ],
  },
  'a session is forged': { when: 'later', forge: forgeApproval, failures: [SEALED, LINE] },
  'the case gets another id, and a session is forged': {
    when: 'again',
    forge(repo, work) {
      const { case_id } = work.ref
      forgeApproval(repo, work)
      const files = [repo.file(case_id, 'case.md'), sessionFile(repo, work), proofFile(repo, work)]
      for (const path of files)
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll(case_id, NEW_ID))
      sealAgain(sessionFile(repo, work))
      renameSync(repo.file(case_id), repo.file(NEW_ID))
      return work.trailer.replace(case_id, NEW_ID)
    },
    failures: [
      {
        code: 'seal_broken',
        message: /In commit [0-9a-f]{10} this was session 1 of case [0-9a-f]{8}, sealed/,
      },
      LINE,
    ],
  },
  'the session is made again with another id': {
    when: 'again',
    forge(repo, work) {
      const path = sessionFile(repo, work)
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(work.ref.id, NEW_ID))
      sealAgain(path)
      repo.edit(proofFile(repo, work), work.ref.id, NEW_ID)
      return work.trailer
    },
    failures: [
      {
        code: 'seal_broken',
        message: /Session 1 \([0-9a-f]{8}\) of this case was sealed in commit .* and is gone/,
      },
    ],
  },
  'the proof is made again with another id': {
    when: 'later',
    forge(repo, work) {
      const path = proofFile(repo, work)
      repo.edit(path, work.proofId, NEW_ID)
      renameSync(path, path.replace(work.proofId, NEW_ID))
    },
    failures: [
      {
        code: 'proof_missing',
        message: /attached to session 1, is gone; commit [0-9a-f]{10} has it/,
      },
    ],
  },
  'a line is removed': {
    when: 'later',
    forge: (repo, work) =>
      editTrail(sessionFile(repo, work), (lines) =>
        lines.filter((line) => !isLineOf(line, 'guarded')),
      ),
    failures: [
      { code: 'trail_gap', message: /it has no guarded/ },
      SEALED,
      {
        code: 'trail_changed',
        message: /A line of the audit trail that git has is gone or changed: \d+ \(guarded, in /,
      },
    ],
  },
  'the signature is removed': {
    when: 'later',
    forge(repo, work) {
      for (const path of signatureFiles(repo, work)) rmSync(path)
    },
    failures: [
      {
        code: 'bad_signature',
        message: /signature of the approval is gone; commit [0-9a-f]{10} has it/,
      },
    ],
  },
  'the proof names no session any more': {
    when: 'later',
    forge: (repo, work) => repo.edit(proofFile(repo, work), /^session_id: .*\n/m, ''),
    failures: [],
    note: /the proof of the case names no session that it has/,
  },
  nothing: { forge: () => {}, failures: [] },
}

function signatureFiles(repo: ClaimedRepository, { ref }: Claimed): string[] {
  const path = repo.file(ref.case_id, `sessions/${ref.id}.approval`)
  return [path, `${path}.sig`]
}

function sign(repo: ClaimedRepository, work: Claimed): void {
  const text = readFileSync(sessionFile(repo, work), 'utf8')
  const [, signed_at] = /^\d+\. (\S+) plan_approved /m.exec(text)!
  const [, plan_sha256] = /^plan_sha256: (\S+)/m.exec(text)!
  const { case_id, id: session_id } = work.ref
  const [statement, signature] = signatureFiles(repo, work) as [string, string]
  const approval = { case_id, session_id, plan_sha256: plan_sha256!, signed_at: signed_at! }
  writeFileSync(statement, approvalStatement(approval))
  writeFileSync(signature, 'a signature\n')
}

/** A commit with a message for each of these files, as they are. */
function claimAll(repo: ClaimedRepository, claims: [file: string, message: string][]): void {
  const data = (bytes: string) => `data ${Buffer.byteLength(bytes)}\n${bytes}`
  const input = claims.flatMap(([file, message], index) => [
    'commit refs/heads/main',
    `committer A <a> ${Math.ceil(Date.now() / 1000)} +0000`,
    data(message),
    ...(index === 0 ? ['from refs/heads/main^0'] : []),
    `M 644 inline ${file}`,
    data(readFileSync(join(repo.root, file), 'utf8')),
  ])
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repo.root, env, input: input.join('\n') })
  repo.git('reset', '--quiet')
}

t.test('every false claim is found and named', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  const all = Object.entries(FORGERIES)
  const fileOf = (index: number) => `p-${String(index).padStart(3, '0')}.js`
  const works: Claimed[] = []
  for (const index of all.keys())
    works.push(await repeatWork(repo, work, ['price.js', fileOf(index)]))
  const trailers = all.map(([name, { forge, when }], index) => {
    if (name.includes('signature')) sign(repo, works[index]!)
    const given = when ? undefined : forge(repo, works[index]!, work)
    return typeof given === 'string' ? given : works[index]!.trailer
  })
  repo.git('add', 'memory')
  repo.git('commit', '--quiet', '--message', 'The record')
  const claim = (index: number, subject: string, trailer: string) => {
    repo.git('add', fileOf(index))
    repo.git('commit', '--quiet', '--message', `${subject}\n\n${trailer}\n`)
  }
  claimAll(
    repo,
    all.map(([name], index) => [fileOf(index), `${name}\n\n${trailers[index]}\n`]),
  )
  const later = all.map(([, { forge, when }], index) => when && forge(repo, works[index]!, work))
  repo.git('add', 'memory')
  repo.git('commit', '--quiet', '--message', 'Later')
  for (const [index, [name, { when }]] of all.entries()) {
    if (when !== 'again') continue
    writeFileSync(join(repo.root, fileOf(index)), 'more\n')
    claim(index, `${name}, again`, later[index] as string)
  }
  const base = repo.git('rev-parse', ':/The record').trim()
  const tip = repo.git('rev-parse', 'HEAD').trim()
  const found = await repo.verify({ range: `${base}..${tip}` })
  t.equal(found.ok, false)

  for (const [name, { failures, when, note }] of all) {
    const subject = when === 'again' ? `${name}, again` : name
    const { claims, result } = found.commits.find((each) => each.subject === subject)!
    const [{ failures: named, notes }] = claims as [(typeof claims)[number]]
    const wanted = named.filter(({ code }) => failures.some((each) => each.code === code))
    t.match(wanted, failures, `${name}: ${JSON.stringify(named)}`)
    t.equal(wanted.length, failures.length, name)
    t.equal(result, failures.length > 0 ? 'failed' : 'passed', name)
    if (failures.length === 0) t.strictSame(named, [], name)
    if (note) t.match(notes.join(), note, name)
  }
  const whole = found.commits.find(({ subject }) => subject === 'nothing')!
  const tests = { run: 1, passed: 1 }
  t.match(whole.claims, [{ notes: [], session: { number: 1, tests, signature: null } }])

  await t.test('wherever the record lies', async (t) => {
    const codesOf = ({ commits }: typeof found) =>
      commits.map(({ subject, claims }) => [
        subject,
        ...claims.flatMap(({ failures }) => failures.map(({ code }) => code)),
      ])
    repo.git('mv', 'memory', 'rec')
    repo.edit(join(repo.root, 'casefile.md'), '---\n', '---\nmemory_root: rec\n')
    repo.git('commit', '--quiet', '--all', '--message', 'Move it')
    renameSync(join(repo.root, 'rec'), join(repo.root, 'real'))
    symlinkSync('real', join(repo.root, 'rec'))
    repo.git('add', '--all', 'rec', 'real')
    repo.git('commit', '--quiet', '--message', 'Behind a link')
    const moved = await repo.verify({ range: `${tip}~4..${tip}` })
    t.strictSame(codesOf(moved), codesOf({ ...found, commits: found.commits.slice(0, 4) }))
  })

  await t.test('a commit of two sessions, one without, and what is required', async (t) => {
    const names = ['nothing', 'the proof names no session any more']
    const two = names.map((name) => all.findIndex(([each]) => each === name))
    repo.git('rm', '--quiet', ...two.map(fileOf))
    repo.git('commit', '--quiet', '--message', 'Away')
    for (const index of two) {
      writeFileSync(join(repo.root, fileOf(index)), 'changed by a session\n')
      repo.git('add', fileOf(index))
    }
    const parts = two.map((index) => `* Part\n\n  ${works[index]!.trailer}`)
    repo.git('commit', '--quiet', '--message', `Merge\n\n${parts.join('\n\n')}`)
    const both = await repo.verify({ range: 'HEAD~1..', requireTrailer: true })
    t.match(both, { ok: true, commits: [{ result: 'passed', failures: [], notes: [] }] })
    t.strictSame(
      both.commits[0]!.claims.map(({ session }) => session?.session_id),
      two.map((index) => works[index]!.ref.id),
    )
    writeFileSync(join(repo.root, 'README.md'), 'Another text\n')
    repo.git('commit', '--quiet', '--all', '--message', 'By hand')
    t.match(await repo.verify({ range: 'HEAD~1..' }), {
      ok: true,
      commits: [{ result: 'no_claim' }],
    })
    const required = await repo.verify({ range: 'HEAD~2..', requireTrailer: true })
    t.match(required, {
      ok: false,
      commits: [{ result: 'failed', failures: [{ code: 'no_claim' }] }, { result: 'passed' }],
    })
    const signed = await repo.verify({ range: 'HEAD~2..HEAD~1', requireSignature: true })
    const failures = [{ code: 'unsigned' }]
    t.match(signed, { ok: false, commits: [{ claims: [{ failures }, { failures }] }] })
  })
})
