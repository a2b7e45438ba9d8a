/**
 * A variable's name, or a prefix: `X_*`. With `where`, the names apply only while that variable of the service is
 * turned on.
 */
export type EnvRule = string | { where: string; names: readonly string[] }

/** Variables that any program on the network may need. */
export const NETWORK_ENV: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

/** Model credentials and endpoints, shared by agents that support several providers. */
export const OPENAI_ENV = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'OPENAI_ORG_ID',
  'OPENAI_PROJECT_ID',
]
export const ANTHROPIC_ENV = ['ANTHROPIC_*']
export const GOOGLE_ENV = ['GEMINI_*', 'GOOGLE_*']

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
