import { type EnvRule, NETWORK_ENV } from './agent-spec.ts'

/** Model credentials and endpoints, shared by agents that support several providers. */
const OPENAI_ENV = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_ORG_ID', 'OPENAI_PROJECT_ID']
const ANTHROPIC_ENV = ['ANTHROPIC_*']
const GOOGLE_ENV = ['GEMINI_*', 'GOOGLE_*']

/** Login and model settings. Cloud credentials are passed only if Claude is set to use that cloud. */
const CLAUDE_ENV: readonly EnvRule[] = [
  ...ANTHROPIC_ENV,
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_CLIENT_CERT',
  'CLAUDE_CODE_CLIENT_KEY',
  'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  { where: 'CLAUDE_CODE_USE_BEDROCK', names: ['AWS_*', 'CLAUDE_CODE_SKIP_BEDROCK_AUTH'] },
  {
    where: 'CLAUDE_CODE_USE_VERTEX',
    names: [
      'CLOUD_ML_REGION',
      'VERTEX_REGION_*',
      'CLAUDE_CODE_SKIP_VERTEX_AUTH',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'GOOGLE_CLOUD_PROJECT',
      'GCLOUD_PROJECT',
    ],
  },
  { where: 'CLAUDE_CODE_USE_FOUNDRY', names: ['AZURE_*', 'CLAUDE_CODE_SKIP_FOUNDRY_AUTH'] },
]

/** The service's variables that each agent gets, with either of its runners. */
export const AGENT_ENV: Record<
  'claude' | 'codex' | 'gemini' | 'opencode' | 'copilot',
  readonly EnvRule[]
> = {
  claude: [...CLAUDE_ENV, ...NETWORK_ENV],
  codex: ['CODEX_HOME', 'CODEX_API_KEY', ...OPENAI_ENV, ...NETWORK_ENV],
  gemini: [...GOOGLE_ENV, ...NETWORK_ENV],
  // it detects usable providers by their keys
  opencode: ['OPENCODE_*', ...OPENAI_ENV, ...ANTHROPIC_ENV, ...GOOGLE_ENV, ...NETWORK_ENV],
  copilot: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', ...NETWORK_ENV],
}

/** A predicate: whether these rules pass a variable on in this environment. */
export function agentVariables(
  rules: readonly EnvRule[],
  service: NodeJS.ProcessEnv,
): (name: string) => boolean {
  const wanted = rules.flatMap((rule) => {
    if (typeof rule === 'string') return [rule]
    return isOn(service[rule.where]) ? rule.names : []
  })
  return (name) => wanted.some((each) => isNamedBy(each, name))
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(?:|0|false|no|off)$/i.test(value.trim())
}

function isNamedBy(wanted: string, name: string): boolean {
  return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted
}
