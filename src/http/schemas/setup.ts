import * as z from 'zod'
import { AGENT_STATUSES } from '../../doctor/agents.ts'
import { parseRequirement } from '../../markdown/requirement-line.ts'
import { MAX_PROVIDER, MAX_SETTING } from '../../model/one-line.ts'
import { REPORT_NAMES } from '../../model/report-formats.ts'
import { atLeastOne, exampleOf, type JsonOf } from './primitives.ts'
import { oneLine } from './text-fields.ts'

const agent = z
  .object({
    id: z.string().describe('The name of the provider.'),
    title: z.string(),
    kind: z.enum(['command', 'acp']),
    status: z
      .enum(AGENT_STATUSES)
      .describe(
        '`unknown_login`: it is installed, but does not say whether you are logged in. `not_trusted`: casefile.md defines it, and you have not trusted that.',
      ),
    version: z.string().nullable().describe('Null if it is unknown.'),
    advice: z.string().nullable().describe('The command to type next; null if there is none.'),
    can_hook: z
      .boolean()
      .describe('Whether it can also work in a terminal of yours, with hooks of Casefile.'),
  })
  .meta({ id: 'SetupAgent' })

const testFields = {
  command: z.string(),
  source: z.string().describe('The file that says so: `casefile.md`, or a file of the project.'),
  report: z.enum(REPORT_NAMES).nullable().describe('The report that it is known to print.'),
}
const tests = z.object(testFields).meta({ id: 'ProjectTests' })

const TESTS = { command: 'npm test --silent', source: 'package.json', report: null }
const CHECKLIST = ['All tests pass (test-log, required)']

/** How a workspace is set up. */
export const setup = z
  .object({
    configured: z.boolean().describe('Whether casefile.md exists.'),
    settings_sha256: z
      .string()
      .nullable()
      .describe('The hash of casefile.md; null if there is none that can be read.'),
    provider: z.string().describe('The provider of new sessions.'),
    agents: z.array(agent).describe('Every provider that runs an agent, by name.'),
    tests: tests.nullable().describe("How the project's tests are run; null if it is not known."),
    checklist: z.array(z.string()).describe('What must be proved in a new case.'),
    hooks: z
      .array(
        z.object({
          agent: z.string(),
          place: z.enum(['local', 'project', 'user']),
          installed: z.enum(['current', 'older', 'changed', 'unreadable']),
          warnings: z.array(z.string()).describe('Why the hooks may not run, and what to do.'),
        }),
      )
      .describe('Installed hooks of agents that work in a terminal.'),
  })
  .meta({
    id: 'Setup',
    examples: [
      {
        configured: true,
        settings_sha256: '8f6a1c0e5d1f9c6ab5e6b7d9a2f4c3e1f0b8a7d6c5e4f3a2b1c0d9e8f7a6b5c4',
        provider: 'claude',
        agents: [
          {
            id: 'claude',
            title: 'Claude Code',
            kind: 'command',
            status: 'ready',
            version: '2.1.330',
            advice: null,
            can_hook: true,
          },
          {
            id: 'codex',
            title: 'Codex',
            kind: 'command',
            status: 'not_logged_in',
            version: '0.169.0',
            advice: 'codex login',
            can_hook: true,
          },
        ],
        tests: TESTS,
        checklist: CHECKLIST,
        hooks: [],
      },
    ],
  })

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
    setup,
  })
  .meta({
    id: 'SetupChanged',
    examples: [
      {
        wrote: ['casefile.md'],
        next: ['casefile new "What is wrong" --type bug', 'casefile start "what is"'],
        setup: exampleOf(setup),
      },
    ],
  })

export const isDryRun = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .optional()
  .describe('`true` writes nothing; `wrote` has what would be written.')

export const setupProvider = z
  .string()
  .optional()
  .describe('Another provider than that of the case.')

/** What a session of a case would plan with. */
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
      .describe(
        'What an intent could name: the folders of what is not committed or changed on the branch, and the tests.',
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

export type SetupJson = JsonOf<typeof setup>
export type SetupChangedJson = JsonOf<typeof setupChanged>
export type CaseSetupJson = JsonOf<typeof caseSetup>
