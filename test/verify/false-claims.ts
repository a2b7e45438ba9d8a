import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import {
  type Claimed,
  type ClaimedRepository,
  openRepository,
  provedWork,
  sealAgain,
} from '../fixtures/verify/claimed-work.ts'

/** What somebody may do to make a commit look approved and proved; each on a copy of a repository where all holds. */
interface Forgery {
  /** Changes the files, or gives another trailer: before the last commit or, if `isCommitted`, in a commit after it. */
  forge(repo: ClaimedRepository, work: Claimed, other: Claimed): unknown
  isCommitted?: boolean
  code: string
  message: RegExp
}

function sessionFile(repo: ClaimedRepository, { ref }: Claimed): string {
  return repo.file(ref.case_id, 'sessions/1.md')
}

const FORGERIES: Record<string, Forgery> = {
  'the trailer of another case': {
    forge: (_repo, _work, other) => other.trailer,
    code: 'other_files',
    message: /Session 1 changed no file of this commit/,
  },
  'a plan that was never approved': {
    forge: (_repo, { trailer }) => trailer.replace(/plan=.*/, 'plan=0123456789ab'),
    code: 'other_plan',
    message: /names the plan 0123456789ab; approved was the plan [0-9a-f]{12} of session 1/,
  },
  'a session that does not exist': {
    forge: (_repo, { trailer }) => trailer.replace('/1 ', '/9 '),
    code: 'no_session',
    message: /has no session 9/,
  },
  'a case that does not exist': {
    forge: (_repo, { trailer }) =>
      trailer.replace(/[0-9a-f-]{36}/, '00000000-0000-4000-8000-000000000000'),
    code: 'no_case',
    message: /no case 00000000-/,
  },
  'a trailer that cannot be read': {
    forge: () => 'Casefile-Session: the first one',
    code: 'bad_trailer',
    message: /"the first one"/,
  },
  'a trailer that only looks like one': {
    forge: (_repo, { trailer }) => trailer.replace('Casefile-S', 'Casefile\u2010\u0405'),
    code: 'bad_trailer',
    message: /not exactly.*Expected: Casefile-Session:/,
  },
  'an approval line that was put in, and the seal left': {
    forge: (repo, work) =>
      repo.edit(
        sessionFile(repo, work),
        /^(\d+)(\. \S+) plan_approved .*$/m,
        '$&\n$1$2 note text=forged',
      ),
    code: 'seal_broken',
    message: /sealed hash/,
  },
  'a line of the trail removed, and sealed again': {
    forge(repo, work) {
      repo.edit(sessionFile(repo, work), /^\d+\. \S+ guarded .*\n/m, '')
      sealAgain(sessionFile(repo, work))
    },
    code: 'trail_gap',
    message: /line \d+ is missing/,
  },
  'an approval of another text, and sealed again': {
    forge(repo, work) {
      const path = sessionFile(repo, work)
      repo.edit(path, /(plan_approved .*?plan_sha256=)[0-9a-f]{64}/, `$1${'0'.repeat(64)}`)
      repo.edit(path, /^(plan_sha256: )[0-9a-f]{64}/m, `$1${'0'.repeat(64)}`)
      sealAgain(path)
    },
    code: 'trail_gap',
    message: /approves another text/,
  },
  'the plan in the file replaced, and sealed again': {
    forge(repo, work) {
      repo.edit(sessionFile(repo, work), "echo 'changed by a session'", "echo 'something else'")
      sealAgain(sessionFile(repo, work))
    },
    code: 'plan_changed',
    message: /not the text that was approved/,
  },
  'states that do not follow, and sealed again': {
    forge(repo, work) {
      repo.edit(
        sessionFile(repo, work),
        'old_state=plan_ready new_state=approved',
        'old_state=planning new_state=approved',
      )
      sealAgain(sessionFile(repo, work))
    },
    code: 'trail_gap',
    message: /goes from planning to approved, but the session was plan_ready/,
  },
  'a sealed session written anew after it was committed': {
    isCommitted: true,
    forge(repo, work) {
      repo.edit(sessionFile(repo, work), 'via=api', 'via=console')
      sealAgain(sessionFile(repo, work))
    },
    code: 'seal_broken',
    message: /was sealed in commit [0-9a-f]{10}, and its file is another one now/,
  },
  'the content of a proof replaced': {
    forge: (repo, { ref, proofId }) =>
      repo.edit(
        repo.file(ref.case_id, `proof/${proofId}.md`),
        'ok 1 - it works',
        'ok 1 - it is fine',
      ),
    code: 'proof_missing',
    message: /content was changed/,
  },
  'a report with failures as proof': {
    forge(repo, { ref, proofId }) {
      const path = repo.file(ref.case_id, `proof/${proofId}.md`)
      repo.edit(path, 'ok 1 - it works', 'not ok 1 - it works')
      const content = /```[^\n]*\n([\s\S]*?)\n```/.exec(readFileSync(path, 'utf8'))![1]!
      repo.edit(path, /^sha256: .*$/m, `sha256: ${sha256(content)}`)
      repo.edit(path, /^tests: .*$/m, 'tests: { run: 1, passed: 0, failed: 1 }')
    },
    code: 'proof_missing',
    message: /1 of 1 test failed|fail/,
  },
  'another content under a proof that git has': {
    isCommitted: true,
    forge(repo, { ref, proofId }) {
      const path = repo.file(ref.case_id, `proof/${proofId}.md`)
      repo.edit(path, 'ok 1 - it works', 'ok 1 - it is fine')
      const content = /```[^\n]*\n([\s\S]*?)\n```/.exec(readFileSync(path, 'utf8'))![1]!
      repo.edit(path, /^sha256: .*$/m, `sha256: ${sha256(content)}`)
    },
    code: 'proof_changed',
    message: /has another content than in commit [0-9a-f]{10}/,
  },
  'a report that no service has counted': {
    forge: (repo, { ref, proofId }) =>
      repo.edit(repo.file(ref.case_id, `proof/${proofId}.md`), /^tests: .*\n/m, ''),
    code: 'proof_missing',
    message: /not counted yet\. To continue, let a service count it \(casefile serve\) and commit/,
  },
  'a text, and counts beside it, as test log': {
    forge(repo, { ref, proofId }) {
      const path = repo.file(ref.case_id, `proof/${proofId}.md`)
      repo.edit(path, /```[^\n]*\n[\s\S]*?\n```/, '```text\nall good, trust me\n```')
      repo.edit(path, /^sha256: .*$/m, `sha256: ${sha256('all good, trust me')}`)
    },
    code: 'proof_missing',
    message: /neither a test report that was counted nor the log of a test step/,
  },
  'a diff as test log': {
    forge(repo, { ref, proofId }) {
      const path = repo.file(ref.case_id, `proof/${proofId}.md`)
      const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n 1..1\n ok 1 - it works'
      repo.edit(path, /```[^\n]*\n[\s\S]*?\n```/, `\`\`\`text\n${diff}\n\`\`\``)
      repo.edit(path, /^sha256: .*$/m, `sha256: ${sha256(diff)}`)
    },
    code: 'proof_missing',
    message: /it is a diff, which is no test-log/,
  },
  'no proof at all': {
    forge: (repo, { ref, proofId }) => rmSync(repo.file(ref.case_id, `proof/${proofId}.md`)),
    code: 'proof_missing',
    message: /verified proof of type test-log for "Tests pass"/,
  },
}

t.test('every false claim is found and named', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  const other = await provedWork(service, 'tax.js')
  await service.close()
  repo.git('add', 'tax.js')
  repo.git('commit', '--quiet', '--message', 'Tax')
  const claim = (trailer: string) => `Change the price\n\n${trailer}\n`
  let count = 0
  for (const [name, { forge, isCommitted, code, message }] of Object.entries(FORGERIES)) {
    await t.test(name, async (t) => {
      const copy = repo.copy(`copy-${++count}`)
      if (isCommitted) {
        copy.commit(claim(work.trailer))
        forge(copy, work, other)
        copy.commit('A later change')
      } else {
        const trailer = forge(copy, work, other)
        copy.commit(claim(typeof trailer === 'string' ? trailer : work.trailer))
      }
      const { commits, ok } = await copy.verify({ range: isCommitted ? 'HEAD~1' : 'HEAD~1..HEAD' })
      const failures = commits[0]!.claims.flatMap((each) => each.failures)
      t.equal(ok, false)
      t.equal(commits[0]!.result, 'failed')
      const found = failures.filter((each) => each.code === code)
      t.match(found, [{ code, message }], JSON.stringify(failures))
    })
  }
  await holds(t, repo, work, other)
})

async function holds(t: Test, repo: ClaimedRepository, work: Claimed, other: Claimed) {
  await t.test('and what is true passes', async (t) => {
    const copy = repo.copy('true')
    copy.commit(`Change the price\n\n${work.trailer}\n`)
    writeFileSync(`${copy.root}/README.md`, 'Another text\n')
    copy.commit('By hand')
    const { commits, ok } = await copy.verify({ range: 'HEAD~2..' })
    t.equal(ok, true)
    t.strictSame(
      commits.map(({ result }) => result),
      ['no_claim', 'passed'],
    )
    t.match(commits[1]!.claims, [
      { failures: [], session: { number: 1, tests: { run: 1, passed: 1 }, signature: null } },
    ])
    const required = await copy.verify({ range: 'HEAD~2..', requireTrailer: true })
    t.match(required.commits[0], { result: 'failed', failures: [{ code: 'no_claim' }] })
    const signed = await copy.verify({ range: 'HEAD~2..', requireSignature: true })
    t.match(signed.commits[1]!.claims[0]!.failures, [{ code: 'unsigned' }])
    const both = copy.commit(
      `Merge\n\n* Change the price\n\n  ${work.trailer}\n\n* Tax\n\n  ${other.trailer}`,
    )
    t.match((await copy.verify({ range: `${both}~1..` })).commits[0]!.claims.length, 2)
  })
}
