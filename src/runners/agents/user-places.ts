import { isAbsolute } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import { realOf } from '../acp/named-path.ts'

type Env = Readonly<Record<string, string>>

/** What an agent may use at work besides the working folder, because its user set it up. */
export interface UserPlaces {
  /** For files of no lasting value; null where there is none. */
  scratch: string | null
  /** Names of MCP servers, for agents that need a list of those that they may use. */
  servers: readonly string[]
}

/** How an agent is started with them: further words of its command, and variables. */
export interface Allowance {
  args?: readonly string[]
  env?: Env
}

export interface AllowsUserPlaces {
  /** The MCP servers in the user's own configuration, for agents that know no pattern for all of them. */
  findServers?: (env: Env, workdir: string) => Promise<string[]>
  allow: (places: UserPlaces) => Allowance
}

export async function allowanceOf(
  { findServers, allow }: AllowsUserPlaces,
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
 * The folder of `TMPDIR`, without links; null where there is none, or where the working folder lies in it: then it
 * is where everything else lies too.
 */
export async function scratchFolder({ TMPDIR }: Env, workdir: string): Promise<string | null> {
  if (!TMPDIR || !isAbsolute(TMPDIR)) return null
  const real = await realOf(TMPDIR, '/')
  return real === null || isWithin(real, workdir) ? null : real
}
