import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import {
  type Claimed,
  type ClaimedRepository,
  isLineOf,
  openRepository,
  provedWork,
  sealedAgain,
  withForgedTrail,
} from '../fixtures/verify/claimed-work.ts'

const NEW_ID = '11111111-2222-4333-8444-555555555555'

interface Change {
  /** In a commit after the one that claims the session. May give the trailer of this commit. */
  make(repo: ClaimedRepository, work: Claimed): unknown
  /** The failures that are expected; none if it is honest. */
  failures: { code: string; message: RegExp }[]
  note?: RegExp
}

function edit(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8')
  const changed = change(text)
  if (changed === text) throw new Error(`nothing changes in ${path}`)
  writeFileSync(path, changed)
}

/** Another time of the approval. */
function forge(text: string): string {
  const other = (line: string) =>
    isLineOf(line, 'plan_approved') ? line.replace('via=api', 'via=console') : line
  return withForgedTrail(text, (lines) => lines.map(other))
}

function moveRecord({ root, git }: ClaimedRepository): void {
  git('mv', 'memory', 'rec')
  edit(join(root, 'casefile.md'), (text) => text.replace('---\n', '---\nmemory_root: rec\n'))
}

function linkRecord({ root }: ClaimedRepository): void {
  renameSync(join(root, 'memory'), join(root, 'real'))
  symlinkSync('real', join(root, 'memory'))
}

const inSession = ({ file }: ClaimedRepository, { ref }: Claimed) =>
  file(ref.case_id, 'sessions/1.md')
const inProof = ({ file }: ClaimedRepository, { ref, proofId }: Claimed) =>
  file(ref.case_id, `proof/${proofId}.md`)

const SEALED = {
  code: 'seal_broken',
  message: /was sealed in commit [0-9a-f]{10}, and its file is/,
}
const LINE = { code: 'trail_changed', message: /\d+ \(plan_approved, in commit [0-9a-f]{10}\)/ }

const CHANGES: Record<string, Change> = {
  'the record is moved': { make: moveRecord, failures: [] },
  'the record is moved behind a link': { make: linkRecord, failures: [] },
  'a session is forged': {
    make: (repo, work) => edit(inSession(repo, work), forge),
    failures: [SEALED, LINE],
  },
  'the record is moved, and a session forged': {
    make(repo, work) {
      edit(inSession(repo, work), forge)
      moveRecord(repo)
    },
    failures: [SEALED, LINE],
  },
  'the record is moved behind a link, and a session forged': {
    make(repo, work) {
      edit(inSession(repo, work), forge)
      linkRecord(repo)
    },
    failures: [SEALED, LINE],
  },
  'the case gets another id, and a session is forged': {
    make(repo, work) {
      const { case_id } = work.ref
      const from = repo.file(case_id)
      const to = repo.file(NEW_ID)
      edit(inSession(repo, work), forge)
      for (const path of [
        repo.file(case_id, 'case.md'),
        inSession(repo, work),
        inProof(repo, work),
      ])
        edit(path, (text) => text.replaceAll(case_id, NEW_ID))
      edit(inSession(repo, work), sealedAgain)
      renameSync(from, to)
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
    make: (repo, work) => {
      const path = inSession(repo, work)
      edit(path, (text) => sealedAgain(text.replaceAll(work.ref.id, NEW_ID)))
      edit(inProof(repo, work), (text) => text.replace(work.ref.id, NEW_ID))
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
    make(repo, work) {
      const path = inProof(repo, work)
      edit(path, (text) => text.replace(work.proofId, NEW_ID))
      renameSync(path, path.replace(work.proofId, NEW_ID))
    },
    failures: [
      {
        code: 'proof_missing',
        message: /attached to session 1, is gone; commit [0-9a-f]{10} has it/,
      },
    ],
  },
  'the proof gets another content': {
    make: (repo, work) =>
      edit(inProof(repo, work), (text) => text.replace('it works', 'it is fine')),
    failures: [
      { code: 'proof_missing', message: /content was changed/ },
      { code: 'proof_changed', message: /another content than in commit [0-9a-f]{10}/ },
    ],
  },
  'a line is removed': {
    make: (repo, work) =>
      edit(inSession(repo, work), (text) =>
        withForgedTrail(text, (lines) => lines.filter((line) => !isLineOf(line, 'guarded'))),
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
    make(repo, work) {
      const path = repo.file(work.ref.case_id, `sessions/${work.ref.id}.approval`)
      for (const each of [path, `${path}.sig`]) rmSync(each)
    },
    failures: [
      {
        code: 'bad_signature',
        message: /signature of the approval is gone; commit [0-9a-f]{10} has it/,
      },
    ],
  },
  'the proof names no session any more': {
    make: (repo, work) =>
      edit(inProof(repo, work), (text) => text.replace(/^session_id: .*\n/m, '')),
    failures: [],
    note: /the proof of the case names no session that it has/,
  },
}

t.test('what a later commit does to the record is found wherever it lies', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  repo.commit(`Change the price\n\n${work.trailer}\n`)
  let count = 0
  for (const [name, { make, failures, note }] of Object.entries(CHANGES)) {
    await t.test(name, async (t) => {
      const copy = repo.copy(`copy-${++count}`)
      if (name.includes('signature')) sign(copy, work)
      const trailer = make(copy, work)
      if (trailer) writeFileSync(join(copy.root, 'price.js'), 'more\n')
      const id = copy.commit(`Later\n\n${trailer ?? ''}`)
      const { commits } = await copy.verify({ range: trailer ? `${id}~1..${id}` : 'HEAD~1' })
      const [claim] = commits[0]!.claims
      t.match(claim!.failures, failures, JSON.stringify(claim!.failures))
      t.equal(claim!.failures.length, failures.length, JSON.stringify(claim!.failures))
      if (note) t.match(claim!.notes.join(), note)
      else t.strictSame(claim!.notes, [])
    })
  }
})

/** Adds a signature to the commit that claims the session. */
function sign(repo: ClaimedRepository, { ref, trailer }: Claimed): void {
  const [, time] = /^\d+\. (\S+) plan_approved /m.exec(
    readFileSync(inSession(repo, { ref } as Claimed), 'utf8'),
  )!
  const plan_sha256 = /^plan_sha256: (\S+)/m.exec(
    readFileSync(inSession(repo, { ref } as Claimed), 'utf8'),
  )![1]!
  const path = repo.file(ref.case_id, `sessions/${ref.id}.approval`)
  writeFileSync(
    path,
    approvalStatement({ case_id: ref.case_id, session_id: ref.id, plan_sha256, signed_at: time! }),
  )
  writeFileSync(`${path}.sig`, 'a signature\n')
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--amend', '--no-edit')
  if (!repo.git('log', '-1', '--format=%B').includes(trailer)) throw new Error('no trailer')
}
