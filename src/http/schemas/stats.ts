import * as z from 'zod'
import { count, id, time } from '../../model/schemas.ts'
import { caseIdParam } from './params.ts'
import { attentionKind, exampleOf, type JsonOf } from './primitives.ts'

const milliseconds = count.nullable()

const runCount = {
  runs: count,
  passed: count.describe('Runs that completed without failed tests.'),
}

const medians = z
  .object({
    planned_ms: milliseconds,
    waited_ms: milliseconds.describe('Until the plan was approved.'),
    ran_ms: milliseconds,
  })
  .meta({ id: 'Medians', description: 'Null without a run that had this phase.' })

const agent = z.object({
  provider: z.string(),
  ...runCount,
  by_week: z.array(z.object(runCount)).describe('One for each of `weeks`.'),
  medians,
})

/** What waits for a person, and the runs of the last weeks. */
export const stats = z
  .object({
    waiting: z
      .array(
        z.object({
          kind: attentionKind.exclude(['running']),
          count,
          oldest_since: time.describe('Since when the one that has waited longest waits.'),
          oldest_case_id: id,
        }),
      )
      .describe('Only kinds that some case needs, the most urgent first.'),
    weeks: z
      .array(z.iso.date())
      .describe('The Mondays (UTC) with which the eight weeks begin, the present week last.'),
    ...runCount,
    agents: z.array(agent).describe('Those with a run in these weeks, most runs first.'),
    medians,
  })
  .meta({
    id: 'Stats',
    examples: [
      {
        waiting: [
          {
            kind: 'plan',
            count: 2,
            oldest_since: '2026-11-19T08:30:00.000Z',
            oldest_case_id: exampleOf(caseIdParam),
          },
        ],
        weeks: [
          '2026-09-28',
          '2026-10-05',
          '2026-10-12',
          '2026-10-19',
          '2026-10-26',
          '2026-11-02',
          '2026-11-09',
          '2026-11-16',
        ],
        runs: 3,
        passed: 2,
        agents: [
          {
            provider: 'claude',
            runs: 3,
            passed: 2,
            by_week: [0, 0, 0, 0, 0, 0, 1, 2].map((runs) => ({
              runs,
              passed: Math.min(runs, 1),
            })),
            medians: {
              planned_ms: 42_000,
              waited_ms: 310_000,
              ran_ms: 95_000,
            },
          },
        ],
        medians: {
          planned_ms: 42_000,
          waited_ms: 310_000,
          ran_ms: 95_000,
        },
      },
    ],
  })

export type StatsJson = JsonOf<typeof stats>
