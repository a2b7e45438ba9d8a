import * as z from 'zod'
import { parseRequirement } from '../../markdown/requirement-line.ts'
import { MAX_PROVIDER, MAX_SETTING } from '../../model/one-line.ts'
import { REPORT_NAMES } from '../../model/report-formats.ts'
import { atLeastOne, type JsonOf } from './primitives.ts'
import { oneLine } from './text-fields.ts'

const testFields = {
  command: z.string(),
  source: z.string().describe('The file that says so: `casefile.md`, or a file of the project.'),
  report: z.enum(REPORT_NAMES).nullable().describe('The report that it is known to print.'),
}
const TESTS = { command: 'npm test --silent', source: 'package.json', report: null }
const CHECKLIST = ['All tests pass (test-log, required)']

const MAX_ITEMS = 50

export const setupChange = atLeastOne(
  z.object({
    provider: z.exactOptional(oneLine(MAX_PROVIDER).describe('The provider of new sessions.')),
    in_terminal: z.exactOptional(
      z.boolean().describe("True installs the hooks of the provider's agent for this folder."),
    ),
    tests: z.exactOptional(
      oneLine(MAX_SETTING)
        .nullable()
        .describe('The command that runs the tests. Null takes the setting away.'),
    ),
    checklist: z.exactOptional(
      z
        .array(
          oneLine(MAX_SETTING).refine(
            (text) => parseRequirement(text) !== null,
            'expected what must be proved',
          ),
        )
        .max(MAX_ITEMS)
        .describe('What must be proved in a new case, as in `All tests pass (test-log)`.'),
    ),
  }),
).meta({ id: 'SetupChange', examples: [{ tests: TESTS.command, checklist: CHECKLIST }] })

export const setupChanged = z
  .object({
    wrote: z
      .array(z.string())
      .describe('The files that were written; outside of the workspace, with their whole path.'),
    next: z.array(z.string()).describe('The two commands that come next in a terminal.'),
  })
  .meta({
    id: 'SetupChanged',
    examples: [
      {
        wrote: ['casefile.md'],
        next: ['casefile new "What is wrong" --type bug', 'casefile start "what is"'],
      },
    ],
  })

export const isDryRun = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .optional()
  .describe('`true` writes nothing; `wrote` has what would be written.')

/** What a new session of a case would plan with. */
export const caseSetup = z
  .object({
    provider: z.string().describe('The provider of the case, or of new sessions.'),
    in_terminal: z
      .boolean()
      .describe('Whether the hooks of that agent are installed for this workspace.'),
    plans_from: z
      .enum(['agent', 'runbook', 'description', 'steps'])
      .nullable()
      .describe(
        '`runbook`: runbook.md of the case. `description`: `run` fences in it. `steps`: those of casefile.md. Null: there is nothing to plan with.',
      ),
    tests: z
      .object({
        ...testFields,
        step: z
          .string()
          .describe('A step of a plan that runs them, with their report or log as proof.'),
        runbook: z.string().describe('The text of a runbook.md that runs just the tests.'),
      })
      .nullable()
      .describe('The tests of the working folder; null if they are not known.'),
    intent: z
      .object({ paths: z.array(z.string()), proof: z.array(z.string()) })
      .nullable()
      .describe(
        'What an intent could name: the folders of what is not committed or changed on the branch, and the tests. Null without `intent=true`.',
      ),
  })
  .meta({
    id: 'CaseSetup',
    examples: [
      {
        provider: 'runbook',
        in_terminal: false,
        plans_from: null,
        tests: {
          ...TESTS,
          step: '```sh run id=npm-test proof=test\nnpm test --silent\n```',
          runbook:
            "Run the project's own tests (package.json).\n\n```sh run id=npm-test proof=test\nnpm test --silent\n```\n\n## Hypothesis\n\nNone: this plan only runs the tests, with the command found in package.json.\n",
        },
        intent: { paths: ['src/**'], proof: [TESTS.command] },
      },
    ],
  })

export type SetupChangedJson = JsonOf<typeof setupChanged>
export type CaseSetupJson = JsonOf<typeof caseSetup>
