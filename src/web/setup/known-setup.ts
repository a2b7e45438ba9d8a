import type { Setup, SetupStatus } from '../../init/setup.ts'

/** What was found on this machine the last time that somebody asked. Pages never wait for it. */
export interface KnownSetup {
  /** Null before the first search. */
  last(): SetupStatus | null
  /** The same agents, with what the files say now. */
  current(): Promise<SetupStatus | null>
  /** Asks each agent, which may take 5 s, unless that was done a moment ago. */
  find(options?: { again: boolean }): Promise<SetupStatus>
}

/** Each question starts the programs of all agents. */
const FRESH_MS = 60_000

export function rememberSetup(setup: Pick<Setup, 'status'>): KnownSetup {
  let known: SetupStatus | null = null
  let at = Number.NEGATIVE_INFINITY
  let asked: Promise<SetupStatus> | null = null

  async function ask(): Promise<SetupStatus> {
    try {
      known = await setup.status()
      at = performance.now()
      return known
    } finally {
      asked = null
    }
  }

  return {
    last: () => known,
    current: async () => known && setup.status(known.agents),
    find({ again = false } = { again: false }) {
      if (known !== null && !again && performance.now() - at < FRESH_MS)
        return Promise.resolve(known)
      asked ??= ask()
      return asked
    },
  }
}
