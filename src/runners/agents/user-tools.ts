import { isAbsolute } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import { resolveNamedPath } from './named-path.ts'

export type Env = Readonly<Record<string, string>>

/** What an agent may use in work mode besides the working folder, because the user set it up. */
export interface UserTools {
  /** A folder for temporary files; null if there is none. */
  scratch: string | null
  /** Names of MCP servers, for agents that need a list of the allowed ones. */
  servers: readonly string[]
}

/** How to start an agent with these permissions: additional arguments and variables. */
export interface Allowance {
  args?: readonly string[]
  env?: Env
}

export interface AllowsUserTools {
  /** The MCP servers in the user's own configuration, for agents that have no wildcard for all servers. */
  findServers?: (env: Env, workdir: string) => Promise<string[]>
  allow: (places: UserTools) => Allowance
}

export async function allowanceOf(
  { findServers, allow }: AllowsUserTools,
  env: Env,
  workdir: string,
): Promise<Required<Allowance>> {
  const servers = (await findServers?.(env, workdir)) ?? []
  const { args = [], env: more = {} } = allow({
    scratch: await scratchFolder(env, workdir),
    servers,
  })
  return { args, env: more }
}

/**
 * The folder of `TMPDIR`, with links resolved. Null if there is none, or if the working folder is inside it, since
 * other projects may be there as well.
 */
export async function scratchFolder({ TMPDIR }: Env, workdir: string): Promise<string | null> {
  if (!TMPDIR || !isAbsolute(TMPDIR)) return null
  const real = await resolveNamedPath(TMPDIR, '/')
  return real === null || isWithin(real, workdir) ? null : real
}
