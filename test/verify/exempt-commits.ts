import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { env } from '../fixtures/git-repository.ts'
import { repositoryAt } from '../fixtures/verify/claimed-work.ts'

const CASE = 'memory/cases/ce7b2a45-e46d-4e89-a0e7-e36f34e00761'
const ID = '11111111-2222-4333-8444-555555555555'

type Tree = Readonly<Record<string, string>>

function lines(changed: Record<number, string> = {}): string {
  return Array.from({ length: 20 }, (_, index) => `${changed[index] ?? index}\n`).join('')
}

/** What git reads to make all commits at once; a commit has these files and no others. */
function createStream() {
  const words: string[] = []
  let marks = 0
  return {
    words,
    commit(subject: string, tree: Tree, ...parents: number[]): number {
      const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}`
      const files = Object.entries(tree).map(
        ([name, text]) => `M 644 inline ${name}\n${data(text)}`,
      )
      const from = parents.map((mark, index) => `${index === 0 ? 'from' : 'merge'} :${mark}`)
      marks++
      const head = [`commit refs/heads/main`, `mark :${marks}`, 'committer A <a> 1700000000 +0000']
      words.push(...head, data(subject), ...from, 'deleteall', ...files, '')
      return marks
    },
  }
}

const base: Tree = { 'casefile.md': '# Project\n', 'a.txt': lines() }
const topic: Tree = { ...base, 'a.txt': lines({ 2: 'two' }), 't.txt': 'topic\n' }
const main: Tree = { ...base, 'a.txt': lines({ 18: 'eighteen' }) }
const merged: Tree = { ...topic, 'a.txt': lines({ 2: 'two', 18: 'eighteen' }) }
const { 't.txt': _, ...dropped } = merged
const noted = (text: string) => ({ [`${CASE}/notes.md`]: text })

/** The trees of the parents and of the merge, and what the merge changes itself. */
const MERGES: Record<string, [parents: Tree[], merge: Tree, changes: string | null]> = {
  'that git made': [[main, topic], merged, null],
  'with another file': [[main, topic], { ...merged, 'evil.js': 'evil\n' }, 'evil.js'],
  'with another line': [
    [main, topic],
    { ...merged, 'a.txt': lines({ 2: 'two', 10: 'evil', 18: 'eighteen' }) },
    'a.txt',
  ],
  'without a file': [[main, topic], dropped, 't.txt'],
  'with other settings': [[main, topic], { ...merged, 'casefile.md': '# Evil\n' }, 'casefile.md'],
  'that drops what a parent brought': [[main, topic], main, 'a.txt, t.txt'],
  'that resolves a conflict': [
    [{ ...main, 'a.txt': lines({ 2: 'zwei' }) }, topic],
    { ...topic, 'a.txt': lines({ 2: 'zwei, two' }) },
    'a.txt',
  ],
  'that resolves a conflict in the record': [
    [
      { ...main, ...noted('one\n') },
      { ...topic, ...noted('two\n') },
    ],
    { ...merged, ...noted('one\ntwo\n') },
    null,
  ],
  // a.txt differs from each parent, and git does not say what it would have made of it
  'of three branches': [
    [main, topic, { ...base, 'third.txt': '3\n' }],
    { ...merged, 'third.txt': '3\n' },
    'a.txt',
  ],
  'of three branches that share no file': [
    [{ ...base, 'fourth.txt': '4\n' }, main, { ...base, 'third.txt': '3\n' }],
    { ...main, 'third.txt': '3\n', 'fourth.txt': '4\n' },
    null,
  ],
  'of three branches with another file': [
    [{ ...base, 'fourth.txt': '4\n' }, main, { ...base, 'third.txt': '3\n' }],
    { ...main, 'third.txt': '3\n', 'fourth.txt': '4\n', 'evil.js': 'evil\n' },
    'evil.js',
  ],
}

const RECORD = [
  'memory/.gitignore',
  'memory/.gitattributes',
  'memory/index.md',
  `${CASE}/case.md`,
  `${CASE}/history.md`,
  `${CASE}/runbook.md`,
  `${CASE}/notes of Ada.md`,
  `${CASE}/case.conflict-20261127T095400.000Z.md`,
  `${CASE}/sessions/${ID}.conflict-20261127T095400.000Z.approval`,
  `${CASE}/sessions/${ID}.approval.conflict-20261127T095400.000Z-2.sig`,
  `${CASE}/sessions/12.md`,
  `${CASE}/sessions/${ID}.approval`,
  `${CASE}/sessions/${ID}.approval.sig`,
  `${CASE}/proof/${ID}.md`,
  `${CASE}/artifacts/${ID}.png`,
]
const CODE = [
  'casefile.md',
  'allowed_signers',
  'memory.js',
  'memory/evil.js',
  'memory/README.md.js',
  'memory/cases/evil.js',
  'memory/cases/package.json',
  `${CASE}/evil.js`,
  `${CASE}/.evil.md`,
  `${CASE}/proof/evil.sh`,
  `${CASE}/sessions/evil.js`,
  `${CASE}/artifacts/evil.js`,
  `${CASE}/artifacts/${ID}.js`,
  `${CASE}/artifacts/1-test.tap`,
  `${CASE}/more/notes.md`,
  'memory/cases/other/notes.md',
]

t.test('a commit needs no trailer if it changes nothing but the record', async (t) => {
  const repo = repositoryAt(join(t.testdir({}), 'repo'))
  mkdirSync(repo.root)
  const { commit, words } = createStream()
  let tip = commit('Beginning', base)
  for (const [name, [parents, merge]] of Object.entries(MERGES)) {
    const fork = commit('Fork', base, tip)
    tip = commit(name, merge, ...parents.map((tree) => commit('Parent', tree, fork)))
  }
  let tree = base
  tip = commit('Files', tree, tip)
  for (const file of [...RECORD, ...CODE]) {
    tree = { ...tree, [file]: '1\n' }
    tip = commit(file, tree, tip)
  }
  const { 'memory/cases/package.json': _1, [`${CASE}/case.md`]: _2, ...rest } = tree
  commit('Remove both', rest, tip)
  repo.git('init', '--quiet', '--initial-branch', 'main')
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repo.root, env, input: words.join('\n') })
  repo.git('reset', '--quiet', '--hard')

  const [free, required] = await Promise.all(
    [false, true].map((requireTrailer) => repo.verify({ range: 'HEAD', requireTrailer })),
  )
  t.equal(free!.ok, true)
  t.equal(required!.ok, false)
  const of = ({ commits }: typeof free & object, name: string) =>
    commits.find(({ subject }) => subject === name)
  for (const [name, [, , changes]] of Object.entries(MERGES)) {
    if (changes === null) {
      t.match(of(required!, name), { result: 'exempt', notes: [] }, name)
      continue
    }
    const message = `changes ${changes} itself`
    t.match(of(required!, name), { failures: [{ code: 'no_claim', message }] }, name)
    t.match(of(free!, name), { result: 'no_claim', notes: [message] }, name)
  }
  for (const name of RECORD) t.equal(of(free!, name)!.result, 'exempt', name)
  for (const name of [...CODE, 'Remove both']) t.equal(of(free!, name)!.result, 'no_claim', name)
})
