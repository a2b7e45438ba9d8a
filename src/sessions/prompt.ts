import { fenceFor } from '../markdown/sections.ts'
import type { SessionType } from '../model/case-state.ts'
import { type FailedTest, failedTestPlace } from '../model/failed-test.ts'
import type { ProjectInstructions } from '../workspace/settings/project-instructions.ts'
import { cutText, PLAN_TASK, type PromptPart, packParts, workTask } from './prompt-parts.ts'
import type { ResolvedCase } from './similar-resolved-cases.ts'

/** Everything that goes into a prompt. Texts may have any length. */
export interface PromptContext {
  case: { id: string; title: string; type: string; state: string; description: string }
  checklist: readonly string[]
  type: SessionType
  /** The case's notes by name, most useful first. */
  notes: readonly { name: string; text: string }[]
  /** Earlier sessions of the case, newest first. */
  earlier: readonly EarlierSession[]
  /** Resolved cases that resemble this one, most similar first. */
  similar: readonly SimilarCase[]
  /** The body of casefile.md. */
  instructions: string
  /** Instruction files of the project that the agent cannot read by itself. */
  projectInstructions: readonly ProjectInstructions[]
}

export type SimilarCase = Pick<
  ResolvedCase,
  'id' | 'title' | 'outcome' | 'reason' | 'cause' | 'proof'
>

export interface EarlierSession {
  number: number
  /** How it ended, in one sentence. */
  outcome: string
  hypothesis: string
  plan: string
  output: string
  failedTests: readonly FailedTest[]
}

/** The operator's note: on a new session, or on a plan that should change. */
export interface Request {
  plan: string | null
  note: string
}

export interface Prompt {
  text: string
  /** The names of the included texts. `leftOut` names texts that were left out or cut. */
  files: string[]
  leftOut: string[]
}

/**
 * Optional parts are added up to this size. Linux limits one command argument to 128 KiB, and most prompts then
 * fit; a long plan or note is never cut and can exceed it.
 */
const MAX_PROMPT_BYTES = 96 * 1024
const MAX_DESCRIPTION_BYTES = 32 * 1024
/** Keeps one long note from displacing the others. */
const MAX_NOTE_BYTES = 24 * 1024
/** The limit for one instruction file of the project. */
const MAX_INSTRUCTIONS_BYTES = 24 * 1024
/** The limit for one earlier session: enough for what was tried and how it ended. */
const MAX_EARLIER_BYTES = 6 * 1024
const MAX_FAILED_TESTS_BYTES = 4 * 1024

/** Asks an agent for a hypothesis and a plan. If space is short, the least useful parts are dropped first. */
export function planPrompt(context: PromptContext, request: Request | null): Prompt {
  const requestParts = request ? [requestText(request)] : []
  return fitPrompt(
    [PLAN_TASK, ...requestParts, aimSection(context.type), caseText(context)],
    context,
  )
}

/** Asks an agent to carry out the approved plan, which is never cut. */
export function workPrompt(context: PromptContext, plan: string, sha256: string): Prompt {
  return fitPrompt([workTask(plan, sha256), caseText(context)], context)
}

function fitPrompt(required: readonly string[], context: PromptContext): Prompt {
  const { instructions, projectInstructions, notes, earlier, similar } = context
  const [newest, ...older] = earlier.map(earlierPart)
  const optional: PromptPart[] = [
    ...(instructions === ''
      ? []
      : [
          {
            name: 'casefile.md',
            text: section('Standing instructions of this workspace', instructions),
          },
        ]),
    ...projectInstructions.map(instructionsPart),
    ...(newest ? [newest] : []),
    ...notes.map(notePart),
    ...(similar.length > 0 ? [similarPart(similar)] : []),
    ...older,
  ]
  const { text, files, leftOut } = packParts(required, optional, MAX_PROMPT_BYTES)
  // a command argument cannot contain NUL
  return { text: text.replaceAll('\0', '\ufffd'), files: ['case.md', ...files], leftOut }
}

const AIMS: Record<SessionType, string> = {
  planning: 'Plan the work that this case asks for.',
  implementing: 'Plan how to make the change that this case asks for, and how to prove it.',
  investigating:
    'Plan how to find the cause of what this case describes: what to look at, what to run, and what each result would mean. Do not repair it yet.',
  verifying: 'Plan how to check that what this case asks for is true of the present code.',
}

function aimSection(type: SessionType): string {
  return section('The aimSection of this session', AIMS[type])
}

function caseText({ case: theCase, checklist }: PromptContext): string {
  const { id, title, type, state, description } = theCase
  const { text } = cutText(description, MAX_DESCRIPTION_BYTES)
  const items =
    checklist.length > 0 ? `\n\nProof that will be required:\n\n${checklist.join('\n')}` : ''
  const head = `Title: ${title}\nCase: ${id}\nType: ${type}\nState: ${state}`
  return section(
    'The case',
    `${head}\n\n${text === '' ? '(no description)' : verbatim(text)}${items}`,
  )
}

function requestText({ plan, note }: Request): string {
  if (plan === null) return section('What the operator asks for', verbatim(note))
  const said = note === '' ? '' : ` They say:\n\n${verbatim(note)}`
  return section(
    'What the operator wants changed',
    `You wrote the plan below. The operator does not approve it as it is.${said}\n\nWrite the whole plan again, changed accordingly. The plan so far:\n\n${verbatim(plan)}`,
  )
}

function instructionsPart({ name, text }: ProjectInstructions): PromptPart {
  const title = `Instructions of the project, from ${name}`
  if (text === null) {
    return { name, text: section(title, 'This file cannot be read as text.'), isCut: true }
  }
  const cut = cutText(text, MAX_INSTRUCTIONS_BYTES)
  return { name, text: section(title, verbatim(cut.text)), isCut: cut.isCut }
}

function notePart({ name, text }: { name: string; text: string }): PromptPart {
  const cut = cutText(text, MAX_NOTE_BYTES)
  return { name, text: section(`Memory file ${name}`, verbatim(cut.text)), isCut: cut.isCut }
}

function earlierPart(earlier: EarlierSession): PromptPart {
  const { number, outcome, hypothesis, plan, output, failedTests } = earlier
  const part = (title: string, text: string, bytes: number) =>
    text === '' ? '' : `\n\n${title}:\n\n${verbatim(cutText(text, bytes).text)}`
  const third = MAX_EARLIER_BYTES / 3
  const texts = [
    part('Failed tests', failedTests.map(failedTestText).join('\n'), MAX_FAILED_TESTS_BYTES),
    part('Hypothesis', hypothesis, third),
    part('Plan', plan, third),
    part('Output', output, third),
  ]
  const text = section(`Earlier session ${number}`, outcome + texts.join(''))
  return { name: `sessions/${number}.md`, text }
}

function failedTestText(test: FailedTest): string {
  const place = failedTestPlace(test)
  return `- ${test.name}${place === null ? '' : ` (${place})`}${test.message === null ? '' : `: ${test.message}`}`
}

/** What was learned from similar cases: the problem, its cause, and the proof. */
function similarPart(cases: readonly SimilarCase[]): PromptPart {
  const texts = cases.map(({ id, title, outcome, reason, cause, proof }) => {
    const accepted = proof.filter((each) => each.accepted_despite !== null)
    const types = [...new Set(proof.map(({ type }) => type))].join(', ')
    return [
      `Title: ${title}`,
      `Case: ${id}`,
      `Outcome: ${outcome ?? 'not stated'}`,
      ...(reason === null ? [] : [`Reason: ${reason}`]),
      ...(cause === null ? [] : [`Hypothesis of its last session: ${cause}`]),
      `Proved by: ${types || 'no verified proof'}`,
      ...accepted.map(
        ({ type, accepted, accepted_despite }) =>
          `Accepted with failures: ${type}, despite: ${accepted_despite}. The operator's reason: ${accepted}`,
      ),
    ].join('\n')
  })
  const about =
    'They share many words with this case and were resolved. Check whether this case has the same cause.'
  return {
    name: 'similar cases',
    text: section('Resolved cases like this one', `${about}\n\n${verbatim(texts.join('\n\n'))}`),
  }
}

function section(title: string, text: string): string {
  return `# ${title}\n\n${text}`
}

function verbatim(text: string): string {
  const fence = fenceFor(text)
  return `${fence}text\n${text}\n${fence}`
}
