import { counted } from './amounts.ts'
import { CASE_STATES, type CaseState } from './case-state.ts'
import type { Channel } from './channels.ts'
import { bounded, oneLine } from './one-line.ts'

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
      /** Lines about RESOLVED leave it out. */
      from?: CaseState | undefined
      to: CaseState
      outcome?: string | undefined
      by_hand?: true
    }
  | { name: 'state_confirmed'; to: CaseState }
  /** The entry of the question is above it. Older lines do not have the states. */
  | { name: 'answered'; from?: CaseState; to?: CaseState }
  | { name: 'commented' }
  | { name: 'edited'; fields: readonly string[]; by_hand?: true }
  | { name: 'item_added' }
  | { name: 'session_started'; session: number; type: string; provider: string }
  | PlanReady
  | { name: 'plan_edited'; session: number; hash: string; by_hand?: true | undefined }
  | { name: 'plan_sent_back'; session: number; comments?: number }
  | { name: 'plan_approved'; session: number; hash: string; where?: Channel | undefined }
  | { name: SessionActName; session: number }
  | {
      name: 'run_ended'
      session: number
      state: 'complete' | 'failed' | 'abandoned'
      /** Its tests and its diff. */
      result?: string | undefined
    }
  | { name: 'work_applied'; session: number; commit: string }
  | { name: 'renumbered'; session: number; before: number }
  | ProofAct

interface PlanReady {
  name: 'plan_ready'
  session: number
  /** Missing for the first plan. */
  revision?: number | undefined
  steps?: number | undefined
  hash: string
}

export type SessionActName =
  | 'queued'
  | 'queue_left'
  | 'approval_withdrawn'
  | 'work_begun'
  | 'worktree_discarded'
  | 'session_deleted'

/** `proof` is the beginning of its id. It has the name of its artifact if that is known, else its type. */
export interface ProofAct {
  name: `proof_${'attached' | 'verified' | 'accepted' | 'changed' | 'deleted'}`
  proof: string
  artifact?: string | undefined
  type?: string | undefined
  /** The item of the checklist that it proves. */
  item?: string | undefined
  /** Its tests. */
  result?: string | undefined
  session?: number
  by_hand?: true
}

export type ActName = HistoryAct['name']

/**
 * `{name}` is a field of the act. What is in brackets is left out if a field in it is missing. `{text}` is the text of
 * the entry; in the other forms it follows the act.
 */
type Form = string | readonly [form: string, values: Readonly<Record<string, unknown>>]

const STATES = '({from} → {to})'
const PROOF = '[ {artifact}][ {type} proof][ as "{item}"]'
const END = '[ {by_hand}][: {result}] ({proof})'

/**
 * The kind of each act, and the forms of its sentence: the first one that fits the act is written. The last ones of some
 * are only read, in files of older versions.
 */
const FORMS: Record<ActName, readonly [kind: HistoryKind, ...forms: Form[]]> = {
  created: ['created', 'created the case[ {by_hand}]', 'created[ {by_hand}]'],
  imported: ['imported', 'imported the case', 'imported'],
  state_changed: [
    'state',
    ['resolved the case[ {by_hand}][: {outcome}]', { to: 'RESOLVED' }],
    [`asks[ {by_hand}][: {text}] ${STATES}`, { to: 'NEEDS_USER_INPUT', outcome: undefined }],
    'moved the case from {from} to {to}[ as {outcome}][ {by_hand}]',
    '{from} → {to}[ ({outcome})][ {by_hand}]',
  ],
  state_confirmed: ['edit', 'confirmed the state {to}', 'confirmed state {to}'],
  answered: ['answer', `answers[: {text}] ${STATES}`, 'answered[ "{question}"]'],
  commented: ['comment', 'commented[: {text}]'],
  edited: ['edit', 'edited {fields}[ {by_hand}]', 'edited case.md {by_hand} ({fields})'],
  item_added: ['edit', 'added a checklist item[: {text}]', 'added checklist item'],
  session_started: [
    'session',
    ['started session {session} ({provider})', { type: 'implementing' }],
    'started session {session} ({type}, {provider})',
    'session {session} started ({type}, {provider})',
  ],
  plan_ready: [
    'plan',
    'session {session}: a plan[ of {steps}] is ready[, revision {revision}] ({hash})',
    'session {session} plan ready (revision {revision}, {hash})',
  ],
  plan_edited: [
    'plan',
    'session {session}: edited the plan[ {by_hand}] ({hash})',
    'session {session} plan edited[ {by_hand}] ({hash})',
  ],
  plan_sent_back: [
    'sent_back',
    'session {session}: sent the plan back[ with {comments}][: {text}]',
    'session {session} plan sent back[ ({comments})]',
  ],
  plan_approved: [
    'approved',
    'session {session}: approved the plan[ {where}] ({hash})',
    'session {session} approved[ {where}] (plan {hash})',
  ],
  queued: ['queue', 'session {session}: waits in line', 'session {session} waits in line'],
  queue_left: ['queue', 'session {session}: left the line', 'session {session} left the line'],
  approval_withdrawn: [
    'queue',
    'session {session}: withdrew the approval',
    'session {session} approval withdrawn',
  ],
  work_begun: [
    'queue',
    'session {session}: began to work after waiting in line',
    'session {session} begins to work after waiting in line',
  ],
  run_ended: [
    'run_ended',
    ['session {session}: {result}', { state: 'complete' }],
    ['session {session}: finished', { state: 'complete' }],
    ['abandoned session {session}[, {result}][: {text}]', { state: 'abandoned' }],
    'session {session} {state}[, {result}][: {text}]',
    'session {session}: {state}[, {result}][: {text}]',
    'session {session} {state}',
  ],
  work_applied: [
    'worktree',
    'session {session}: applied the work ({commit})',
    'session {session} applied (commit {commit})',
  ],
  worktree_discarded: [
    'worktree',
    'session {session}: discarded the worktree',
    'session {session} worktree discarded',
  ],
  renumbered: [
    'edit',
    'session {session}: was session {before} before',
    'session {session} renumbered from {before}',
  ],
  session_deleted: [
    'deleted',
    'deleted session {session} by hand',
    'session {session} deleted by hand',
  ],
  proof_attached: [
    'proof',
    `attached${PROOF}[ to session {session}]${END}`,
    'proof {proof} ({type}) attached[ to session {session}][ {by_hand}]',
  ],
  proof_verified: [
    'proof',
    `verified${PROOF}${END}`,
    'proof {proof} ({type}) verified[ {by_hand}]',
  ],
  proof_accepted: ['proof', `accepted${PROOF}${END}`, 'proof {proof} ({type}) accepted'],
  proof_changed: ['proof', `changed${PROOF}${END}`, 'proof {proof} ({type}) changed {by_hand}'],
  proof_deleted: ['deleted', `deleted${PROOF}${END}`, 'proof {proof} ({type}) deleted {by_hand}'],
}

export const ACT_NAMES = Object.keys(FORMS) as ActName[]

export const CHANNEL_WORDS: Record<Channel, string> = {
  console: 'in the console',
  terminal: 'in the terminal',
  mcp: 'via MCP',
  import: 'by an import',
  api: 'via the API',
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
/** Older lines have 12 digits. */
const HASH: Field = { shape: '[0-9a-f]{8}(?:[0-9a-f]{4})?', read: (text) => text.slice(0, 8) }
const STATE: Field = { shape: CASE_STATES.join('|') }
const LIMITED: Field = { shape: '[^·]+?', write: (text: string) => partOf(text, MAX_FIELD) }
const MAX_FIELD = 80
const TESTS = '\\d+ of \\d+(?: tests?)? passed'
const DIFF = '\\d+ files?, \\+\\d+ −\\d+'

const FIELDS: Readonly<Record<string, Field>> = {
  text: { shape: '.+' },
  from: STATE,
  to: STATE,
  outcome: { shape: '[^\\s()·]+', write: (text: string) => text.replace(/[\s()·]+/g, '') },
  /** The entry of the question has it. */
  question: { shape: '[^·]+', read: () => undefined },
  fields: {
    shape: '\\w+(?:, \\w+)*',
    read: (text) => text.split(', '),
    write: (names: readonly string[]) => names.join(', '),
  },
  session: NUMBER,
  before: NUMBER,
  revision: { shape: NUMBER.shape, read: (text) => (text === '1' ? undefined : Number(text)) },
  steps: amount('step'),
  hash: HASH,
  commit: HASH,
  comments: amount('comment'),
  where: {
    shape: `${Object.values(CHANNEL_WORDS).join('|')}|by (?:MCP|the API)`,
    /** Older lines say `by MCP`, `by the API`. */
    read: (text) =>
      Object.entries(CHANNEL_WORDS).find(([, words]) =>
        [text, text.replace('by', 'via')].includes(words),
      )![0],
    write: (place: Channel) => CHANNEL_WORDS[place],
  },
  state: { shape: 'complete|failed|abandoned' },
  result: { shape: `${TESTS}(?:, ${DIFF})?|${DIFF}` },
  proof: { shape: '[0-9a-f]{8}' },
  artifact: { shape: '\\d+-[^·]+?', write: (text: string) => partOf(text, MAX_FIELD) },
  item: LIMITED,
  type: { shape: '[^\\s(),·]+' },
  provider: { shape: '[^(),·]+' },
  by_hand: { shape: 'by hand', read: () => true, write: () => 'by hand' },
}

function amount(one: string): Field {
  return {
    shape: `\\d+ ${one}s?`,
    read: (text) => Number.parseInt(text, 10),
    write: (count: number) => counted(count, one),
  }
}

/** Bounds a part of a line, and removes what separates parts. */
export function partOf(text: string, most: number): string {
  return bounded(oneLine(text).replaceAll('·', '‧'), most)
}

const BETWEEN = ' · '
const PLACEHOLDER = /\{(\w+)\}/g
/** Parts in brackets, and what is between them. */
const PART = /\[([^[\]]+)\]|([^[\]]+)/g

interface CompiledForm {
  name: ActName
  values: Readonly<Record<string, unknown>>
  parts: { words: string; fields: string[]; isOptional: boolean }[]
  shape: RegExp
  fields: string[]
}

const COMPILED: readonly CompiledForm[] = ACT_NAMES.flatMap((name) =>
  FORMS[name].slice(1).map((form) => compile(name, form as Form)),
)

function compile(name: ActName, form: Form): CompiledForm {
  const [written, values] = typeof form === 'string' ? [form, {}] : form
  const whole = written.includes('{text}') ? written : `${written}[${BETWEEN}{text}]`
  const parts = [...whole.matchAll(PART)].map(([, optional, required]) => {
    const words = optional ?? required!
    return { words, fields: fieldsOf(words), isOptional: optional !== undefined }
  })
  const shape = parts.map(({ words, isOptional }) => {
    const literal = words.replace(/[().]/g, '\\$&')
    const part = literal.replace(PLACEHOLDER, (_, field) => `(${FIELDS[field]!.shape})`)
    return isOptional ? `(?:${part})?` : part
  })
  return {
    name,
    values,
    parts,
    shape: new RegExp(`^${shape.join('')}$`, 's'),
    fields: fieldsOf(whole),
  }
}

function fieldsOf(words: string): string[] {
  return [...words.matchAll(PLACEHOLDER)].map(([, field]) => field!)
}

/** Returns the sentence of an act, with its text, which `parseAct` reads as this act. */
export function actText(act: HistoryAct, text?: string): string {
  const has: Readonly<Record<string, unknown>> = { ...act, text: text || undefined }
  const isThere = (field: string) => has[field] !== undefined
  const form = COMPILED.find(
    ({ name, values, parts }) =>
      name === act.name &&
      Object.entries(values).every(([field, value]) => has[field] === value) &&
      parts.every(({ fields, isOptional }) => isOptional || fields.every(isThere)),
  )!
  return form.parts
    .filter(({ fields }) => fields.every(isThere))
    .map(({ words }) =>
      words.replace(PLACEHOLDER, (_, field) => {
        const { write = String } = FIELDS[field]!
        return write(has[field] as never)
      }),
    )
    .join('')
}

/** Parses the sentence of an act with its text; null for one that Casefile does not write. */
export function parseAct(sentence: string): { act: HistoryAct; text: string | null } | null {
  for (const { name, values, shape, fields } of COMPILED) {
    const found = shape.exec(sentence)
    if (!found) continue
    const act: Record<string, unknown> = { name }
    let text: string | null = null
    for (const [index, field] of fields.entries()) {
      const { read = String } = FIELDS[field]!
      const written = found[index + 1]
      if (written === undefined) continue
      if (field === 'text') text = written
      else if (read(written) !== undefined) act[field] = read(written)
    }
    for (const [field, value] of Object.entries(values)) if (value !== undefined) act[field] = value
    return { act: act as unknown as HistoryAct, text }
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
