import type { CaseContents } from '../../model/case-contents.ts'
import { pictureText } from '../../model/picture.ts'
import type { Proof } from '../../model/proof.ts'
import { proofPage, proofPicture } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'

/** A proof that is a picture. */
export interface PictureProof extends Proof {
  image: NonNullable<Proof['image']>
}

export function isPicture(proof: Proof): proof is PictureProof {
  return proof.image !== null
}

/** The picture proof attached before this one: of the same type if there is one, else of any. */
export function earlierPicture({ proofs }: CaseContents, proof: PictureProof): PictureProof | null {
  const earlier = proofs.slice(0, proofs.indexOf(proof)).filter(isPicture)
  return earlier.findLast(({ type }) => type === proof.type) ?? earlier.at(-1) ?? null
}

interface PictureProps {
  proof: PictureProof
  alt: string
  isLazy?: boolean
}

function Picture({ proof, alt, isLazy = false }: PictureProps) {
  const { width, height } = proof.image
  return (
    <img
      src={proofPicture(proof)}
      alt={alt}
      width={width}
      height={height}
      loading={isLazy ? 'lazy' : undefined}
    />
  )
}

/** In the list of proofs: a small picture that leads to the page of the proof. */
export function Thumbnail({ proof }: { proof: PictureProof }) {
  return (
    <a class="thumbnail" href={proofPage(proof.case_id, proof.id)}>
      <Picture proof={proof} alt={`${proof.type}, ${pictureText(proof.image)}`} isLazy />
    </a>
  )
}

/** The picture as wide as the page; a click, or the box above it, shows each of its pixels. */
export function PictureContent({ proof }: { proof: PictureProof }) {
  return (
    <div class="picture stack">
      <p class="picture-tools">
        <label>
          <input type="checkbox" id="picture-full" /> Show at 100 %
        </label>
      </p>
      <section class="picture-frame" aria-label="Picture" tabindex={0}>
        <label for="picture-full">
          <Picture proof={proof} alt={`${proof.type}, ${pictureText(proof.image)}`} />
        </label>
      </section>
    </div>
  )
}

interface ComparisonProps {
  before: PictureProof
  after: PictureProof
}

/** Two pictures side by side. */
export function PictureComparison({ before, after }: ComparisonProps) {
  return (
    <section class="card" id="picture-comparison" aria-labelledby="picture-comparison-title">
      <h2 id="picture-comparison-title">Compared with the picture before</h2>
      {before.sha256 === after.sha256 && <p class="muted">Both are the same picture.</p>}
      <div class="picture-pair">
        <PictureOfPair proof={before} name="Before" />
        <PictureOfPair proof={after} name="This proof" />
      </div>
    </section>
  )
}

function PictureOfPair({ proof, name }: { proof: PictureProof; name: string }) {
  return (
    <figure class="stack">
      <figcaption>
        <a href={proofPage(proof.case_id, proof.id)}>{name}</a>{' '}
        <span class="muted small">
          {pictureText(proof.image)}, <Time at={proof.created_at} />
        </span>
      </figcaption>
      <a href={proofPicture(proof)}>
        <Picture proof={proof} alt={`${name}: ${proof.type}`} isLazy />
      </a>
    </figure>
  )
}
