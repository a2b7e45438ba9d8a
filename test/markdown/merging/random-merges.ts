import t from 'tap'
import { editedCase, newCaseText, readCase } from '../../../src/markdown/case-file.ts'
import { isConflictCopy } from '../../../src/markdown/conflict-name.ts'
import { withHistory } from '../../../src/markdown/history-file.ts'
import { useParser } from '../../../src/markdown/parser-pool.ts'
import { newProofText } from '../../../src/markdown/proof-file.ts'
import { readSession } from '../../../src/markdown/session-file.ts'
import { editedSession, newSessionText } from '../../../src/markdown/session-texts.ts'
import { type Session, sessionMove } from '../../../src/model/session.ts'
import { isBrief, isFull } from '../../fixtures/full.ts'
import { type Files, merged } from '../../fixtures/merge-folder.ts'
import { randomFrom } from '../../fixtures/random.ts'
import { CASE, CASE_ID, NOW, PROOF, SESSION } from '../../fixtures/records.ts'

t.teardown(useParser())

const SEED = Number(process.env.CASEFILE_TEST_SEED ?? Date.now() % 1e9)
const ROUNDS = isFull ? 2000 : isBrief ? 24 : 120

/** One clone's random edits of a case folder, and what it was told is written. */
function createEditor(random: () => number, name: string) {
  let count = 0
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const word = () => `${name}${++count}`
  const uuid = () => {
    const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  const time = () => new Date(Date.parse(NOW) + Math.floor(random() * 1e8)).toISOString()
  const caseOf = async (text: string) =>
    (await readCase(text, { id: CASE_ID, created_at: NOW })).value!
  const sessionsIn = (files: Files) =>
    Object.keys(files).filter((path) => /^sessions\/\d+\.md$/.test(path))

  const edits: ((files: Files) => Promise<void> | void)[] = [
    async (files) => {
      const text = files['case.md'] as string
      const fields = pick([
        { title: word() },
        { type: pick(['bug', 'feature', 'epic']) },
        { tags: [word(), pick(['auth', 'slow'])] },
        { outcome: pick(['Duplicate', 'WontFix']) },
        { description: `${word()}\n\nTwo.\n\n${pick(['Three.', word()])}` },
      ])
      files['case.md'] = await editedCase(text, await caseOf(text), { fields })
    },
    async (files) => {
      const text = files['case.md'] as string
      const addItem = { description: word(), type: 'log', required: random() < 0.5, checked: false }
      files['case.md'] = await editedCase(text, await caseOf(text), { addItem })
    },
    (files) => {
      files['case.md'] = (files['case.md'] as string).replace('- [ ]', '- [x]')
    },
    (files) => {
      const line = `- ${time()} · ${name} · note · ${word()}`
      files['history.md'] = withHistory(files['history.md'] as string, [line])
    },
    (files) => {
      const lines = (files['notes.md'] as string).split('\n')
      lines.splice(Math.floor(random() * (lines.length + 1)), pick([0, 0, 1]), word())
      files['notes.md'] = lines.join('\n')
    },
    (files) => {
      const proof = { ...PROOF, id: uuid() }
      files[`proof/${proof.id}.md`] = newProofText(proof, `${word()}\n`)
    },
    async (files) => {
      const number =
        Math.max(0, ...sessionsIn(files).map((path) => Number(/\d+/.exec(path)![0]))) + 1
      const [id, started_at] = [uuid(), time()]
      const trail = [
        {
          number: 1,
          time: started_at,
          event: 'session_created',
          fields: { type: 'implementing', session_id: id },
        },
        {
          number: 2,
          time: started_at,
          event: 'session_state_changed',
          fields: { old_state: 'created', new_state: 'planning' },
        },
      ] as Session['trail']
      files[`sessions/${number}.md`] = await newSessionText({
        ...SESSION,
        id,
        number,
        started_at,
        trail,
      })
    },
    async (files) => {
      const path = pick(sessionsIn(files))
      if (path === undefined) return
      const number = Number(/\d+/.exec(path)![0])
      const text = files[path] as string
      const session = read(text, number)
      const last = session.trail.at(-1)!.time
      const now = new Date(Date.parse(last) + 1 + Math.floor(random() * 1000)).toISOString()
      if (session.state === 'planning') {
        const trigger = pick(['planned', 'planned', 'fail'] as const)
        const move = sessionMove(session, { trigger, now })
        files[path] = await editedSession(text, session, { ...move, texts: { plan: word() } })
      } else if (session.state === 'plan_ready') {
        const move = sessionMove(session, { trigger: pick(['revise', 'abandon']), now })
        files[path] = await editedSession(text, session, move)
      }
    },
  ]
  return async (files: Files, times: number): Promise<Files> => {
    const edited = { ...files }
    for (let count = 0; count < times; count++) await pick(edits)(edited)
    return edited
  }
}

function read(text: string, number: number): Session {
  const { value, problems } = readSession(text, {
    case_id: CASE_ID,
    number,
    case_title: '',
    created_at: NOW,
  })
  if (!value || problems.length > 0) throw new Error(JSON.stringify(problems))
  return value
}

/** The lines that are in `after` more often than in `before`. */
function added(before: Files, after: Files): string[] {
  const count = (files: Files) => {
    const found = new Map<string, number>()
    for (const text of Object.values(files))
      for (const line of (text as string).split('\n')) found.set(line, (found.get(line) ?? 0) + 1)
    return found
  }
  const was = count(before)
  return [...count(after)]
    .filter(([line, times]) => times > (was.get(line) ?? 0))
    .map(([line]) => line)
}

/** Lines that the merge may write otherwise: tags are a set, renumbering changes some lines of a session. */
const CHANGES = /^(?:tags:|number:|# Session |\d+\. .* session_sealed )/

async function checkMerge(base: Files, ours: Files, theirs: Files): Promise<Files> {
  const { texts } = await merged({ base, ours, theirs })
  const present = new Set(Object.values(texts).flatMap((text) => text.split('\n')))
  for (const side of [ours, theirs])
    for (const line of added(base, side))
      if (!CHANGES.test(line) && !present.has(line)) throw new Error(`lost: ${line}`)
  const ids = new Set<string>()
  for (const [path, text] of Object.entries(texts)) {
    const number = /^sessions\/(\d+)\.md$/.exec(path)?.[1]
    if (number === undefined) continue
    const { id } = read(text, Number(number))
    if (ids.has(id)) throw new Error(`the session ${id} is there twice`)
    ids.add(id)
  }
  const history = texts['history.md']!.split('\n').filter((line) => line.startsWith('- '))
  if (new Set(history).size < history.length) throw new Error('a line of the history is doubled')
  if (!(await readCase(texts['case.md']!, { id: CASE_ID, created_at: NOW })).value)
    throw new Error('case.md is unreadable')
  for (const [name, versions] of Object.entries({
    'theirs again': { base, ours: texts, theirs },
    'ours again': { base, ours: texts, theirs: ours },
    'by ours': { base, ours, theirs: texts },
  })) {
    const again = (await merged(versions)).texts
    t.strictSame(again, texts, `${name} changes nothing`) ||
      (() => {
        throw new Error(name)
      })()
  }
  return texts
}

t.test(
  'random edits of two clones: nothing is lost, no session is broken, and merging again changes nothing',
  async (t) => {
    t.comment(`CASEFILE_TEST_SEED=${SEED}`)
    const first: Files = {
      'case.md': await newCaseText({
        ...CASE,
        description: 'One.\n\nTwo.\n\nThree.',
        checklist: [],
      }),
      'history.md': withHistory(null, [`- ${NOW} · a · created`]),
      'notes.md': 'a\nb\nc\n',
    }
    const random = randomFrom(SEED)
    const [a, b] = [createEditor(random, 'ours'), createEditor(random, 'theirs')]
    let base = first
    let copies = 0
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 6 === 0) base = first
      const [ours, theirs] = [
        await a(base, 1 + Math.floor(random() * 6)),
        await b(base, 1 + Math.floor(random() * 6)),
      ]
      try {
        base = await checkMerge(base, ours, theirs)
      } catch (error) {
        t.fail(`round ${round}: ${(error as Error).message}`)
        return
      }
      const kept = Object.keys(base).filter(isConflictCopy)
      copies += kept.length
      base = Object.fromEntries(Object.entries(base).filter(([path]) => !kept.includes(path)))
    }
    t.comment(`${ROUNDS} rounds, ${copies} conflict copies`)
    t.pass('all rounds')
  },
)
