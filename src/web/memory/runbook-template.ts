import type { HttpDeps } from '../../http/deps.ts'
import { AppError } from '../../model/app-error.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'

/** What a new runbook.md begins with: a plan that can be approved as it is, and says how to go on. */
export async function runbookTemplate(
  service: Pick<HttpDeps, 'setup'>,
  contents: CaseContents,
): Promise<string> {
  return `## Hypothesis

What you think is wrong, and why.

## Steps

Each block that is marked \`run\` is a step. Once you approve the plan, the steps run in this order.
\`proof=\` names what a step proves by: the report of its tests (\`tap\`, \`junit\`, \`go\`), the log of its tests
(\`test\`), or other output (\`log\`).

${await testsStep(service, contents)}
`
}

const USUAL = '```sh run id=tests proof=test\nnpm test\n```'

async function testsStep({ setup }: Pick<HttpDeps, 'setup'>, contents: CaseContents) {
  try {
    return (await setup.ofCase(contents, OWN_PROVIDER)).tests?.step ?? USUAL
  } catch (error) {
    if (error instanceof AppError) return USUAL
    throw error
  }
}
