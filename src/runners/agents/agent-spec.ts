import type { ReadOwnRecord } from './own-record.ts'

/** An agent that the service knows by name, as data: what is needed to find it, run it and judge it. */
export interface AgentSpec {
  /** The provider's name. */
  id: string
  kind: 'command' | 'acp'
  title: string
  /** Found on the PATH. */
  program: string
  /** How a person gets it, as a command. */
  install: string
  /** Variables of the service that it gets, besides those that every step gets. */
  env: readonly EnvRule[]
  /** Arguments that make it print its version. */
  version: readonly string[]
  /**
   * Files of a project that it acts on by itself (hooks, servers, addresses) and cannot be told to leave alone: they count
   * only once the operator trusts them. Looked up in the working folder and above; a name that ends in `/` is a folder
   * with all that is in it. Measured, see docs/security.md.
   */
  projectFiles: readonly string[]
  /**
   * Names of the files in which a project instructs it, where it is kept from reading them by itself: the prompt has
   * them instead. Of each group the first that is there counts, in the working folder and in those above it.
   */
  instructions: readonly (readonly string[])[]
  /** Versions below one that are known for something bad; `advice` is a sentence on what to do. */
  bad: readonly { below: string; why: string; advice?: string }[]
  /** Its own record of a conversation, where it has actions that the agent does not report. */
  readRecord?: ReadOwnRecord
  /** How strongly its own plan mode holds, as measured (docs/agents.md). */
  planMode: PlanModeStrength
}

export interface PlanModeStrength {
  /**
   * `sandbox`: the operating system refuses writes; `tools`: the tools that write are taken away;
   * `asks`: it asks us before it writes; `advice`: nothing but words; `none`: it has no plan mode.
   */
  holds: 'sandbox' | 'tools' | 'asks' | 'advice' | 'none'
  /** One sentence. */
  note: string
}

/**
 * The name of a variable, or the beginning of names: `X_*`. With `where` such names count only while a
 * variable of the service's is on, which says what they are for.
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
