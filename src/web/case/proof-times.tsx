import { Time } from '../shell/time.tsx'

interface ProofTimesProps {
  proof: { created_at: string; verified_at: string | null }
  /** As it counts now: a proof that was changed since is not verified, whenever it was. */
  verified: boolean
}

/** When a proof was attached, and verified, as facts in a line. */
export function ProofTimes({ proof, verified }: ProofTimesProps) {
  return (
    <>
      <span>
        attached <Time at={proof.created_at} />
      </span>
      {verified && proof.verified_at && (
        <span>
          verified <Time at={proof.verified_at} />
        </span>
      )}
    </>
  )
}
