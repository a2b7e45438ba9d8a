import { fenceFor } from '../markdown/sections.ts'
import { sha256 } from '../markdown/session-file.ts'
import type { SessionType } from '../model/case-state.ts'
import { type FailedTest, failedTestPlace } from '../model/failed-test.ts'
import { REPORT_NAMES, reportFacts } from '../model/report-formats.ts'
import { type NewTrailLine, newLine } from '../model/trail.ts'
import { PLAN_MARKS } from '../runners/agents/plan-text.ts'
import { createArtifact } from '../runners/output/artifacts.ts'
import type { ProjectInstructions } from '../settings/project-instructions.ts'
import type { EarlierSession, PromptContext, SimilarCase } from './context.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { isTakenArtifact, underFreeName } from './step-artifacts.ts'

/** The operator's note: on a new session, or on a plan that should change. */
interface Request {
  plan: string | null
  note: string
}

interface Prompt {
  text: string
  /** The names of the included texts. `leftOut` names texts that were left out or cut. */
  files: string[]
  leftOut: string[]
}

/** How many bytes of each text a prompt has at most. */
interface PromptSizes {
  /** Optional parts are added up to this size; the task, a plan or a note is never cut and can exceed it. */
  prompt: number
  description: number
  /** Keeps one long note from displacing the others. */
  note: number
  /** One earlier session: enough for what was tried and how it ended. */
  earlier: number
}

/** Linux limits one command argument to 128 KiB, and most prompts then fit. */
const SIZES: PromptSizes = {
  prompt: 96 * 1024,
  description: 32 * 1024,
  note: 24 * 1024,
  earlier: 6 * 1024,
}
/** Claude Code takes no more than 10,000 characters from a hook. */
const OPENING_SIZES: PromptSizes = {
  prompt: 9_000,
  description: 3_000,
  note: 800,
  earlier: 900,
}
/** The limit for one instruction file of the project. */
const MAX_INSTRUCTIONS_BYTES = 24 * 1024

/** Asks an agent for a hypothesis and a plan. If space is short, the least useful parts are dropped first. */
export function planPrompt(context: PromptContext, request: Request | null): Prompt {
  const requestParts = request ? [requestText(request)] : []
  return fitPrompt(
    [PLAN_TASK, ...requestParts, aimSection(context.type), caseText(context)],
    context,
  )
}

/** Asks an agent to carry out the approved plan, which is never cut, and nor are the operator's notes on it. */
export function workPrompt(
  context: PromptContext,
  { plan, sha256, notes }: { plan: string; sha256: string; notes: string },
): Prompt {
  const noted = notes === '' ? [] : [section('Notes of the operator', verbatim(notes))]
  return fitPrompt([workTask(plan, sha256), ...noted, caseText(context)], context)
}

/** Tells an agent that a person runs themselves about its case. `folder` has the case's files. */
export function openingPrompt(task: string, context: PromptContext, folder: string): string {
  const { text, leftOut } = fitPrompt(
    [task, caseText(context, OPENING_SIZES)],
    context,
    OPENING_SIZES,
  )
  if (leftOut.length === 0) return text
  const names = leftOut.slice(0, MOST_NAMES).join(', ')
  const more = leftOut.length > MOST_NAMES ? `, and ${leftOut.length - MOST_NAMES} more` : ''
  return `${text}\nCut or left out here for length: ${names}${more}. The case's files are in ${folder}.\n`
}

const MOST_NAMES = 10

function fitPrompt(
  required: readonly string[],
  context: PromptContext,
  sizes: PromptSizes = SIZES,
): Prompt {
  const { instructions, projectInstructions, notes, earlier, similar } = context
  const [newest, ...older] = earlier.map((each) => earlierPart(each, sizes.earlier))
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
    ...notes.map((note) => notePart(note, sizes.note)),
    ...(similar.length > 0 ? [similarPart(similar)] : []),
    ...older,
  ]
  const { text, files, leftOut } = packParts(required, optional, sizes.prompt)
  // a command argument cannot contain NUL
  return { text: text.replaceAll('\0', '\ufffd'), files: ['case.md', ...files], leftOut }
}

const AIMS: Record<SessionType, string> = {
  planning: 'Plan the work that this case asks for.',
  implementing: 'Plan how to make the change that this case asks for, and how to prove it.',
  investigating:
    'Plan how to find the cause of what this case describes: what to look at, what to run, and what each result would mean. Do not repair it yet.',
  verifying: 'Plan how to check that the code does what this case asks for.',
}

function aimSection(type: SessionType): string {
  return section('The aim of this session', AIMS[type])
}

function caseText({ case: theCase, checklist, tests }: PromptContext, sizes = SIZES): string {
  const { id, title, type, state, description } = theCase
  const { text } = cutText(description, sizes.description)
  const items =
    checklist.length > 0 ? `\n\nProof that will be required:\n\n${checklist.join('\n')}` : ''
  const testing =
    tests === null
      ? ''
      : `\n\nThe project's tests are run with: ${tests.command}\n\nAs a step of a plan, with what proves that they pass:\n\n${tests.step}`
  const head = `Title: ${title}\nCase: ${id}\nType: ${type}\nState: ${state}`
  return section(
    'The case',
    `${head}\n\n${text === '' ? '(no description)' : verbatim(text)}${items}${testing}`,
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

function notePart({ name, text }: { name: string; text: string }, maxBytes: number): PromptPart {
  const cut = cutText(text, maxBytes)
  return { name, text: section(`Memory file ${name}`, verbatim(cut.text)), isCut: cut.isCut }
}

function earlierPart(earlier: EarlierSession, maxBytes: number): PromptPart {
  const { number, outcome, hypothesis, plan, output, failedTests } = earlier
  const part = (title: string, text: string, bytes: number) =>
    text === '' ? '' : `\n\n${title}:\n\n${verbatim(cutText(text, bytes).text)}`
  const third = maxBytes / 3
  const texts = [
    part('Failed tests', failedTests.map(failedTestText).join('\n'), 2 * third),
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

/** An optional part of a prompt: it can be cut or left out. */
interface PromptPart {
  name: string
  text: string
  /** Whether its text was cut already. */
  isCut?: boolean
}

/** A smaller piece of a text would say too little. */
const LEAST_USEFUL_BYTES = 1024

/** Packs parts in order while they fit; cuts the first one that does not fit. */
function packParts(required: readonly string[], parts: readonly PromptPart[], maxBytes: number) {
  const texts = [...required]
  const files: string[] = []
  const leftOut: string[] = []
  let room = maxBytes - texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 0)
  for (const { name, text, isCut } of parts) {
    const whole = Buffer.byteLength(text) + 2
    if (whole <= room) {
      texts.push(text)
      files.push(name)
      if (isCut) leftOut.push(name)
      room -= whole
      continue
    }
    leftOut.push(name)
    if (room < LEAST_USEFUL_BYTES) continue
    const cut = cutText(text, room - 2)
    texts.push(cut.text)
    files.push(name)
    room = 0
  }
  return { text: `${texts.join('\n\n')}\n`, files, leftOut }
}

/** The beginning of a text, cut between characters and marked as cut. */
export function cutText(text: string, maxBytes: number): { text: string; isCut: boolean } {
  if (Buffer.byteLength(text) <= maxBytes) return { text, isCut: false }
  const mark = '\n[casefile: cut here for length]'
  const bytes = Buffer.from(text).subarray(0, Math.max(0, maxBytes - mark.length))
  const whole = new TextDecoder().decode(bytes, { stream: true })
  return { text: whole + mark, isCut: true }
}

/** Such as: tap or go for a step that prints such a report, where go is the output of go test -json */
const REPORT_WORDS = [
  `${REPORT_NAMES.slice(0, -1).join(', ')} or ${REPORT_NAMES.at(-1)} for a step that prints such a report, or test for a step that runs tests and prints none: its exit code has to be that of the tests, so use no pipe and no ||`,
  ...REPORT_NAMES.flatMap((name) => {
    const hint = reportFacts(name)?.hint
    return hint ? [`where ${name} is ${hint}`] : []
  }),
].join(', ')

const STEP_EXAMPLE = '```sh run id=test timeout=5m proof=tap\nnpm test -- --test-reporter=tap\n```'

const PLAN_TASK = `You plan a piece of work on a software project. Only plan: nothing runs until a person has read your plan and approved it.

- Change nothing: write no file and run nothing that writes. Any change in the working folder makes the planning fail.
- Do not ask questions: nobody can answer. If you have to assume something, say so in the plan.
- Read what you need, then answer with one markdown document between these two marks:

${PLAN_MARKS.begin}
## Hypothesis

What you believe is the cause, or the way to do it, in a few sentences.

## Plan

What should be done.
${PLAN_MARKS.end}

## How to write the plan

Prefer a plan that runs exactly as written, without an agent: every step is a fenced block marked \`run\`, with prose between the blocks if it helps the reader.

${STEP_EXAMPLE}

The languages are sh, bash and js (a module for node). The keys, all optional: id (a word), timeout (such as 90s or 10m), cwd (a folder inside the working folder), expect (exit codes, such as 0,1), continue=true (go on after another exit), proof (${REPORT_WORDS}; log for other evidence), baseline (a word without a value, for a step with such a report: it also runs once before the work, and the tests that fail before and after are compared; use it where tests may fail already). Steps run in order, each in a separate process without input; the first unexpected exit stops the run. To write a file, use a step as well, for example with a here-document. Such a plan must have no list and no other fenced block outside of the steps.

If the work needs decisions that a script cannot make, write a numbered list of what an agent should do. Then add each command that proves the work as a \`run\` block with \`proof=\`: the service runs those itself after the agent has ended.`

/** The approved plan is never cut: its length is limited when it is written. */
function workTask(plan: string, sha256: string): string {
  const fence = fenceFor(plan)
  return `Carry out a plan that a person has read and approved.

- Do everything the plan says, and nothing else. If that turns out to be impossible, stop and say why.
- You are in the working folder: change files only there. Do not touch the folder with the records of the cases: only a person approves, verifies and resolves.
- Where the plan has \`paths\`, \`commands\` or \`proof\` above its text, change only files of \`paths\`, and run only \`commands\`, those of \`proof\`, and what only reads.
- Do not ask questions: nobody can answer. If an action is denied, continue without it or say what could not be done.
- The service itself runs the plan's blocks marked \`run\` with \`proof=\`, after you have ended.
- End with a short summary of what you changed.

# The approved plan

Its SHA-256 is ${sha256}.

${fence}markdown
${plan}
${fence}`
}

/**
 * Stores a prompt as an artifact, without the secrets of the service's environment. Returns the redacted text,
 * which is the one to send, and an audit trail line that says what it contains.
 */
export async function recordPrompt(
  { layout, redactor }: Pick<SessionDeps, 'layout' | 'redactor'>,
  { case_id, number }: Pick<Job, 'case_id' | 'number'>,
  mode: 'plan' | 'work',
  { text, files, leftOut }: Prompt,
): Promise<{ text: string; line: NewTrailLine }> {
  const prompt = redactor.text(text)
  const wanted = `${number}-${mode}-prompt.md`
  const name = await underFreeName(wanted, isTakenArtifact, async (name) => {
    await createArtifact(layout, case_id, name, prompt)
    return name
  })
  const line = newLine('context_loaded', {
    files,
    left_out: leftOut.length > 0 ? leftOut : undefined,
    prompt: name,
    prompt_bytes: Buffer.byteLength(prompt),
    prompt_sha256: sha256(prompt),
  })
  return { text: prompt, line }
}
