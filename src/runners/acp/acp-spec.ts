import type { ProviderSettings } from '../../model/settings.ts'
import { type AgentSpec, agentSpec } from '../agents/agent.ts'

/** An agent that speaks the Agent Client Protocol over its standard streams, as casefile.md defines it. */
export interface AcpSpec extends AgentSpec {
  args: readonly string[]
  /** Modes that the operator names; null if the mode is found by its name, or not changed. */
  named: { plan: string | null; work: string | null }
}

export function acpSpec(
  id: string,
  { command, planMode, workMode }: Omit<Extract<ProviderSettings, { kind: 'acp' }>, 'kind'>,
): AcpSpec {
  const [program = '', ...args] = command
  const note = 'It is not known what its plan mode prevents.'
  return {
    ...agentSpec({ id, title: id, program, planMode: { holds: 'advice', note } }),
    args,
    named: { plan: planMode, work: workMode },
  }
}
