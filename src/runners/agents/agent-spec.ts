import type { ReadOwnRecord } from './own-record.ts'

/** A known agent, described as data: how to find, run and judge it. */
export interface AgentSpec {
  /** The provider's name. */
  id: string
  kind: 'command' | 'acp'
  title: string
  /** The program's name on the PATH. */
  program: string
  /** The command that installs it. */
  install: string
  /** Variables of the service that it gets in addition to those of every step. */
  env: readonly EnvRule[]
  /** Arguments that print its version. */
  version: readonly string[]
  /**
   * Files of a project that it acts on by itself (hooks, servers, endpoints) and that it cannot be told to ignore.
   * The operator must trust them first. They are looked up in the working folder and above; a name ending in `/` is
   * a folder with everything in it. Measured, see docs/security.md.
   */
  projectFiles: readonly string[]
  /**
   * Names of instruction files that it cannot read by itself, so that the prompt includes them. The first existing
   * file of each group is used, in the working folder and in each folder above.
   */
  instructions: readonly (readonly string[])[]
  /** Old versions with a known problem; `advice` is a sentence on what to do. */
  bad: readonly { below: string; why: string; advice?: string }[]
  /** Reads its own record of a conversation, if that has actions the agent does not report. */
  readRecord?: ReadOwnRecord
  /** How strict its own plan mode is, as measured (docs/agents.md). */
  planMode: PlanModeStrength
}

export interface PlanModeStrength {
  /**
   * `sandbox`: the operating system blocks writes; `tools`: tools that write are removed; `asks`: it asks before it
   * writes; `advice`: only instructions; `none`: no plan mode.
   */
  holds: 'sandbox' | 'tools' | 'asks' | 'advice' | 'none'
  /** One sentence. */
  note: string
}

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
