import type { Comparison } from './compare.ts'

/** Returns lines about the tokens of each bot on which the simulated profit exceeds the exact profit most (`most`
 *  tokens per bot), with all fills of these tokens. The lines show where the fill model may be wrong. Tokens that the
 *  simulated bot still holds are left out. */
export function worstTokens(comparisons: readonly Comparison[], most: number): string[] {
  const bots = Map.groupBy(
    comparisons.filter(({ place }) => place === 'middle'),
    ({ bot }) => bot,
  )
  return [...bots].flatMap(([bot, runs]) => {
    const tokens = runs.flatMap(({ seed, ledgers }) =>
      [...ledgers].flatMap(([mint, ledger]) => {
        if (ledger.simulatedTokens > 0n) return []
        const difference = ledger.fills.reduce(
          (sum, { simulatedLamports, exactLamports }) => sum + simulatedLamports - exactLamports,
          -ledger.exactValueLamports,
        )
        return [{ seed, mint, ledger, difference }]
      }),
    )
    return tokens
      .sort((one, other) => other.difference - one.difference)
      .slice(0, most)
      .flatMap(({ seed, mint, ledger, difference }) => [
        `${bot}, seed ${seed}, ${mint}: simulated profit too high by ${sol(difference)} SOL`,
        ...ledger.fills.map(
          ({ fill, simulatedLamports, exactLamports, exactTokens }) =>
            `  ${fill.time} ${fill.side} ${fill.tokens} tokens for ${sol(simulatedLamports)} SOL; exact ${exactTokens} for ${sol(exactLamports)}`,
        ),
      ])
  })
}

function sol(lamports: number): string {
  return (lamports / 1e9).toFixed(4)
}
