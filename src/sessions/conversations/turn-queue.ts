import type { FolderContents } from '../../git/folder-contents.ts'
import type { PlanScope } from '../../model/scope.ts'
import type { StandingIntent } from '../../model/standing.ts'
import type { HookAnswer } from '../../runners/agents/hooks/hook-event.ts'
import type { AgentNote, WorkResult } from '../../runners/contract.ts'

const PASS: HookAnswer = { is: 'pass' }

export interface PresentedPlan {
  plan: string
  /** Null: that of the case. */
  hypothesis: string | null
}

/** What an agent in a terminal does that a job of its session waits for. */
type Turn =
  | ({ is: 'plan' } & PresentedPlan)
  | { is: 'stop'; answer(answer: HookAnswer): void }
  | { is: 'end' }

/** A waiting hook that asks for a decision on a plan. */
interface Question {
  plan: string
  resolve(answer: HookAnswer): void
}

/**
 * The line between the hooks of an agent in a terminal and the jobs of its session: the hooks report turns and ask for
 * decisions, the jobs wait for the turns.
 */
export interface TurnQueue {
  readonly number: number
  /** The state of the working folder when the session began; null without a repository. */
  start: { contents: FolderContents; recorded: Set<string> } | null
  /** The agent knows already that its plan is approved. */
  isTold: boolean
  /** What the approved plan limits the work to; null before. */
  scope: PlanScope | null
  /** The standing intents that its calls lay within, and the input of those calls. */
  readonly standing: Map<string, StandingIntent>
  /** The agent must not change anything yet: the state before the work is recorded, and tests may run. */
  prepare(): void
  /** Whether the agent waited for this. */
  endPreparation(): boolean
  /** Resolves when the preparation has ended, at once without one. */
  prepared(): Promise<void>
  isPreparing(): boolean
  /** Resolves once `start` is known. */
  readonly begun: Promise<void>
  setBegun(): void
  /** Resolves when it is recorded, or could not be. */
  note(note: AgentNote): Promise<void>
  /** For the planning job. Null if the conversation ended, or `signal` aborted. */
  nextPlan(signal: AbortSignal): Promise<PresentedPlan | null>
  /**
   * For the job that executes: runs `check` at each stop of the agent, and at the end of the conversation. A check that fails blocks the first stop with
   * its reason; later ones pass, and the work goes on with the next prompt.
   */
  work(signal: AbortSignal, check: () => Promise<WorkResult>): Promise<WorkResult>
  /** For hooks. */
  present(plan: PresentedPlan): void
  stop(): Promise<HookAnswer>
  end(): void
  /** The conversation goes on: an end that no job has seen did not happen. */
  resume(): void
  /** A question about the plan; the answer is `pass` once it is decided elsewhere. */
  ask(plan: string, signal: AbortSignal): Promise<HookAnswer>
  isAsking(): boolean
  decide(answer: (plan: string) => HookAnswer): void
  /** Lets the hook go that waits for the end of the work. */
  letGo(): void
}

export function createTurnQueue(number: number, note: TurnQueue['note']): TurnQueue {
  const turns: Turn[] = []
  const questions = new Set<Question>()
  let wake = () => {}
  let held: ((answer: HookAnswer) => void) | null = null
  /** The session is over. */
  let isClosed = false
  let setBegun = () => {}
  const begun = new Promise<void>((resolve) => {
    setBegun = resolve
  })

  let preparation: { ended: Promise<void>; end(): void } | null = null
  function endPreparation(): boolean {
    const was = preparation
    preparation = null
    was?.end()
    return was !== null
  }

  function add(turn: Turn): void {
    turns.push(turn)
    wake()
  }

  /** Null if `signal` aborted. */
  async function nextTurn(signal: AbortSignal): Promise<Turn | null> {
    while (turns.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    return signal.aborted ? null : turns.shift()!
  }

  const self: TurnQueue = {
    number,
    start: null,
    isTold: false,
    scope: null,
    standing: new Map(),
    begun,
    setBegun,
    prepare() {
      if (preparation) return
      let end = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      preparation = { ended, end }
    },
    endPreparation,
    prepared: () => preparation?.ended ?? Promise.resolve(),
    isPreparing: () => preparation !== null,
    note,
    async nextPlan(signal) {
      for (;;) {
        const turn = await nextTurn(signal)
        if (turn === null || turn.is === 'end') return null
        if (turn.is === 'plan') return turn
        turn.answer(PASS)
      }
    },
    async work(signal, check) {
      let wasBlocked = false
      for (;;) {
        const turn = await nextTurn(signal)
        if (turn === null) return { ok: false, reason: 'it was stopped' }
        if (turn.is === 'plan') continue
        let result: WorkResult
        try {
          result = await check()
        } finally {
          if (signal.aborted && turn.is === 'stop') turn.answer(PASS)
        }
        if (signal.aborted) return { ok: false, reason: 'it was stopped' }
        if (turn.is === 'end') {
          return result.ok
            ? result
            : { ok: false, reason: `the conversation with the agent ended, and ${result.reason}` }
        }
        if (result.ok) {
          held = turn.answer
          return result
        }
        turn.answer(wasBlocked ? PASS : { is: 'blocked', reason: blockedReason(result.reason) })
        wasBlocked = true
      }
    },
    present: (plan) => add({ is: 'plan', ...plan }),
    stop: () =>
      isClosed ? Promise.resolve(PASS) : new Promise((answer) => add({ is: 'stop', answer })),
    end: () => add({ is: 'end' }),
    resume() {
      const others = turns.filter(({ is }) => is !== 'end')
      turns.splice(0, turns.length, ...others)
    },
    ask(plan, signal) {
      return new Promise((resolve) => {
        const question: Question = {
          plan,
          resolve(answer) {
            questions.delete(question)
            resolve(answer)
          },
        }
        questions.add(question)
        signal.addEventListener('abort', () => question.resolve(PASS), { once: true })
        if (signal.aborted) question.resolve(PASS)
      })
    },
    isAsking: () => questions.size > 0,
    decide(answer) {
      for (const question of [...questions]) question.resolve(answer(question.plan))
    },
    letGo() {
      isClosed = true
      endPreparation()
      held?.(PASS)
      held = null
      for (const turn of turns.splice(0)) if (turn.is === 'stop') turn.answer(PASS)
    },
  }
  return self
}

function blockedReason(reason: string): string {
  return `Casefile: the proof that the approved plan names is not there: ${reason}. Fix the cause, then stop again.`
}
