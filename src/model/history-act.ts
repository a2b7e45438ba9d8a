import { counted } from './amounts.ts'
import { CASE_STATES, type CaseState } from './case-state.ts'
import type { Channel } from './channels.ts'

export const HISTORY_KINDS = [
  'created',
  'imported',
  'state',
  'question',
  'answer',
  'session',
  'plan',
  'sent_back',
  'approved',
  'queue',
  'worktree',
  'run_ended',
  'proof',
  'edit',
  'deleted',
  'comment',
  'note',
] as const

export type HistoryKind = (typeof HISTORY_KINDS)[number]

/** What a line of a history says. Its text in `history.md` is written and read by the forms below. */
export type HistoryAct =
  | { name: 'created'; by_hand?: true }
  | { name: 'imported' }
  | {
      name: 'state_changed'
      from: CaseState
      to: CaseState
      outcome?: string | undefined
      by_hand?: true
    }
  | { name: 'state_confirmed'; to: CaseState }
  /** The beginning of the question; the entry of the question has all of it. */
  | { name: 'answered'; question?: string | undefined }
  | { name: 'commented' }
  | { name: 'edited'; fields: readonly string[]; by_hand?: true }
  | { name: 'item_added' }
  | { name: 'session_started'; session: number; type: string; provider: string }
  | { name: 'plan_ready'; session: number; revision: number; hash: string }
  | { name: 'plan_edited'; session: number; hash: string; by_hand?: true | undefined }
  | { name: 'plan_sent_back'; session: number; comments?: number }
  | { name: 'plan_approved'; session: number; hash: string; where?: Channel | undefined }
  | { name: SessionActName; session: number }
  | { name: 'run_ended'; session: number; state: 'complete' | 'failed' | 'abandoned' }
  | { name: 'work_applied'; session: number; commit: string }
  | { name: 'renumbered'; session: number; before: number }
  | ProofAct

export type SessionActName =
  | 'queued'
  | 'queue_left'
  | 'approval_withdrawn'
  | 'work_begun'
  | 'worktree_discarded'
  | 'session_deleted'

/** `proof` is the beginning of its id. */
export interface ProofAct {
  name: `proof_${'attached' | 'verified' | 'accepted' | 'changed' | 'deleted'}`
  proof: string
  type: string
  session?: number
  by_hand?: true
}

export type ActName = HistoryAct['name']

/** The kind of each act, and the forms of its text: the first whose fields the act has is written, all are read. */
const FORMS: Record<ActName, readonly [kind: HistoryKind, ...forms: string[]]> = {
  created: ['created', 'created {by_hand}', 'created'],
  imported: ['imported', 'imported'],
  state_changed: [
    'state',
    '{from} → {to} ({outcome}) {by_hand}',
    '{from} → {to} ({outcome})',
    '{from} → {to} {by_hand}',
    '{from} → {to}',
  ],
  state_confirmed: ['edit', 'confirmed state {to}'],
  answered: ['answer', 'answered "{question}"', 'answered'],
  commented: ['comment', 'commented'],
  edited: ['edit', 'edited case.md {by_hand} ({fields})', 'edited {fields}'],
  item_added: ['edit', 'added checklist item'],
  session_started: ['session', 'session {session} started ({type}, {provider})'],
  plan_ready: ['plan', 'session {session} plan ready (revision {revision}, {hash})'],
  plan_edited: [
    'plan',
    'session {session} plan edited {by_hand} ({hash})',
    'session {session} plan edited ({hash})',
  ],
  plan_sent_back: [
    'sent_back',
    'session {session} plan sent back ({comments})',
    'session {session} plan sent back',
  ],
  plan_approved: [
    'approved',
    'session {session} approved {where} (plan {hash})',
    'session {session} approved (plan {hash})',
  ],
  queued: ['queue', 'session {session} waits in line'],
  queue_left: ['queue', 'session {session} left the line'],
  approval_withdrawn: ['queue', 'session {session} approval withdrawn'],
  work_begun: ['queue', 'session {session} begins to work after waiting in line'],
  run_ended: ['run_ended', 'session {session} {state}'],
  work_applied: ['worktree', 'session {session} applied (commit {commit})'],
  worktree_discarded: ['worktree', 'session {session} worktree discarded'],
  renumbered: ['edit', 'session {session} renumbered from {before}'],
  session_deleted: ['deleted', 'session {session} deleted by hand'],
  proof_attached: [
    'proof',
    'proof {proof} ({type}) attached to session {session}',
    'proof {proof} ({type}) attached {by_hand}',
    'proof {proof} ({type}) attached',
  ],
  proof_verified: [
    'proof',
    'proof {proof} ({type}) verified {by_hand}',
    'proof {proof} ({type}) verified',
  ],
  proof_accepted: ['proof', 'proof {proof} ({type}) accepted'],
  proof_changed: ['proof', 'proof {proof} ({type}) changed {by_hand}'],
  proof_deleted: ['deleted', 'proof {proof} ({type}) deleted {by_hand}'],
}

export const ACT_NAMES = Object.keys(FORMS) as ActName[]

export const CHANNEL_WORDS: Record<Channel, string> = {
  console: 'in the console',
  terminal: 'in the terminal',
  mcp: 'by MCP',
  import: 'by an import',
  api: 'by the API',
  agent: "in the agent's own dialog",
  standing: 'by a standing intent',
}

/** A field in a form: what it looks like there, and how that becomes its value; by default it is its value. */
interface Field {
  shape: string
  read?: (text: string) => unknown
  write?: (value: never) => string
}

const NUMBER: Field = { shape: '\\d{1,6}', read: Number }
const HASH: Field = { shape: '[0-9a-f]{12}' }
const STATE: Field = { shape: CASE_STATES.join('|') }
const WORDS: Field = { shape: '.+' }

const FIELDS: Readonly<Record<string, Field>> = {
  from: STATE,
  to: STATE,
  outcome: { shape: '[^()]+' },
  question: WORDS,
  fields: {
    shape: '\\w+(?:, \\w+)*',
    read: (text) => text.split(', '),
    write: (names: readonly string[]) => names.join(', '),
  },
  session: NUMBER,
  before: NUMBER,
  revision: NUMBER,
  hash: HASH,
  commit: HASH,
  comments: {
    shape: '\\d+ comments?',
    read: (text) => Number.parseInt(text, 10),
    write: (count: number) => counted(count, 'comment'),
  },
  where: {
    shape: Object.values(CHANNEL_WORDS).join('|'),
    read: (text) => Object.entries(CHANNEL_WORDS).find(([, words]) => words === text)![0],
    write: (place: Channel) => CHANNEL_WORDS[place],
  },
  state: { shape: 'complete|failed|abandoned' },
  proof: { shape: '[0-9a-f]{8}' },
  type: { shape: '[^(),]+' },
  provider: WORDS,
  by_hand: { shape: 'by hand', read: () => true, write: () => 'by hand' },
}

const PLACEHOLDER = /\{(\w+)\}/g

/** Each form with the names of its fields, in order. */
const READERS = ACT_NAMES.flatMap((name) =>
  FORMS[name].slice(1).map((form) => {
    const literal = form.replace(/[().]/g, '\\$&')
    const shape = literal.replace(PLACEHOLDER, (_, field) => `(${FIELDS[field]!.shape})`)
    return { name, shape: new RegExp(`^${shape}$`, 's'), fields: fieldsOf(form) }
  }),
)

function fieldsOf(form: string): string[] {
  return [...form.matchAll(PLACEHOLDER)].map(([, field]) => field!)
}

/** Returns the text of an act in its line, which `parseAct` reads as this act. */
export function actText(act: HistoryAct): string {
  const values = act as unknown as Readonly<Record<string, never>>
  const [, ...forms] = FORMS[act.name]
  const form = forms.find((each) => fieldsOf(each).every((field) => values[field] !== undefined))!
  return form.replace(PLACEHOLDER, (_, field) => {
    const { write = String } = FIELDS[field]!
    return write(values[field]!)
  })
}

/** Parses the text of an act; null for a text that Casefile does not write. */
export function parseAct(text: string): HistoryAct | null {
  for (const { name, shape, fields } of READERS) {
    const found = shape.exec(text)
    if (!found) continue
    const values = fields.map((field, index) => {
      const { read = String } = FIELDS[field]!
      return [field, read(found[index + 1]!)]
    })
    return { name, ...Object.fromEntries(values) } as HistoryAct
  }
  return null
}

export function kindOf(act: HistoryAct): HistoryKind {
  const isQuestion = act.name === 'state_changed' && act.to === 'NEEDS_USER_INPUT'
  return isQuestion ? 'question' : FORMS[act.name][0]
}

/** The number of the session that an act is about. */
export function sessionOf(act: HistoryAct): number | null {
  return 'session' in act ? (act.session ?? null) : null
}
