import { fenceFor } from '../markdown/sections.ts'
import { PLAN_MARKS } from '../runners/agents/plan-text.ts'

/** An optional part of a prompt: it can be cut or left out. */
export interface PromptPart {
  name: string
  text: string
  /** Whether its text was cut already. */
  isCut?: boolean
}

/** A smaller piece of a text would say too little. */
const LEAST_USEFUL_BYTES = 1024

/** Packs parts in order while they fit; cuts the first one that does not fit. */
export function packParts(
  required: readonly string[],
  parts: readonly PromptPart[],
  maxBytes: number,
) {
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

const STEP_EXAMPLE = '```sh run id=test timeout=5m proof=tap\nnpm test -- --test-reporter=tap\n```'

export const PLAN_TASK = `You plan a piece of work on a software project. Only plan: nothing runs until a person has read your plan and approved it.

- Change nothing: write no file and run nothing that writes. You are in a copy of the working folder. Any change, there or elsewhere, makes the planning fail.
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

The languages are sh, bash and js (a module for node). The keys, all optional: id (a word), timeout (such as 90s or 10m), cwd (a folder inside the working folder), expect (exit codes, such as 0,1), continue=true (go on after another exit), proof (tap, junit or go for a step that prints such a report, where go is the output of go test -json; log for other evidence). Steps run in order, each in a separate process without input; the first unexpected exit stops the run. To write a file, use a step as well, for example with a here-document. Such a plan must have no list and no other fenced block outside of the steps.

If the work needs decisions that a script cannot make, write a numbered list of what an agent should do. Then add each command that proves the work as a \`run\` block with \`proof=\`: the service runs those itself after the agent has ended.`

/** The approved plan is never cut: its length is limited when it is written. */
export function workTask(plan: string, sha256: string): string {
  const fence = fenceFor(plan)
  return `Carry out a plan that a person has read and approved.

- Do everything the plan says, and nothing else. If that turns out to be impossible, stop and say why.
- You are in the working folder: change files only there. Do not touch the folder with the records of the cases: only a person approves, verifies and resolves.
- Do not ask questions: nobody can answer. If an action is denied, continue without it or say what could not be done.
- The service itself runs the plan's blocks marked \`run\` with \`proof=\`, after you have ended.
- End with a short summary of what you changed.

# The approved plan

Its SHA-256 is ${sha256}.

${fence}markdown
${plan}
${fence}`
}
