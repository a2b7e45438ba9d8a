import * as z from 'zod'
import type { ApiReader } from '../../client/client.ts'
import { commandFor, statusOf } from '../output/status-text.ts'
import { row } from './tool.ts'

export const statusShape = row({
  headline: z.string(),
  detail: z.string(),
  next: z
    .looseObject({ act: z.string(), label: z.string(), command: z.string() })
    .nullable()
    .describe('What comes next, and the command with which the operator does it'),
}).describe('Where it is, and the one thing that comes next')

export async function statusView(
  client: ApiReader,
  caseId: string,
  session: { id: string } | null = null,
) {
  const { headline, detail, next } = await statusOf(client, caseId, session)
  return {
    headline,
    detail,
    next: next && { ...next, command: commandFor(next, caseId) },
  }
}

/** The status as a sentence for the agent, which can do nothing of it itself. */
export async function nextText(
  client: ApiReader,
  caseId: string,
  session: { id: string } | null = null,
): Promise<string> {
  const { headline, detail, next } = await statusView(client, caseId, session)
  const command = next === null ? '' : ` Next, for the operator: ${next.command}.`
  return `${headline} ${detail}${command} No tool here does that.`
}
