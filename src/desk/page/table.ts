import { Component, type ComponentChild, type ComponentChildren, h } from 'preact'
import { useState } from 'preact/hooks'

export interface Column<Row> {
  readonly head: string
  /** Whether the column contains numbers, which are aligned to the right. */
  readonly isNumber?: boolean
  /** Whether the cell takes the whole width of a card on a narrow screen. */
  readonly isWide?: boolean
  /** Value by which the rows can be sorted. */
  readonly sort?: (row: Row) => number | string
  readonly cell: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /**
   * Text of the cells that change even if the row does not, such as an age. The row is drawn again when this text
   * changes.
   */
  readonly stampOf?: (row: Row) => string
}

interface Order {
  readonly head: string
  readonly isDescending: boolean
}

/**
 * A table whose rows become cards on a narrow screen. ARIA roles tell a screen reader that the cards are still a table.
 */
export function Table<Row>({ label, columns, rows, keyOf, stampOf }: TableProps<Row>): ComponentChild {
  const [order, setOrder] = useState<Order | null>(null)
  const sort = columns.find(({ head }) => head === order?.head)?.sort
  const sorted = sort === undefined || order === null ? rows : sortedBy(rows, sort, order.isDescending)
  const turn = (head: string): void =>
    setOrder(
      order?.head !== head ? { head, isDescending: true } : order.isDescending ? { head, isDescending: false } : null,
    )
  return h(
    'table',
    { role: 'table', 'aria-label': label },
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        columns.map((column) => h(Head<Row>, { key: column.head, column, order, turn })),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      sorted.map((row) => h(TableRow<Row>, { key: keyOf(row), columns, row, stamp: stampOf?.(row) ?? '' })),
    ),
  )
}

function Head<Row>(props: { column: Column<Row>; order: Order | null; turn: (head: string) => void }): ComponentChild {
  const { column, order, turn } = props
  const { head, sort, isNumber = false } = column
  const direction = order?.head !== head ? 'none' : order.isDescending ? 'descending' : 'ascending'
  const attributes = { role: 'columnheader', scope: 'col', class: isNumber ? 'right' : '' }
  if (sort === undefined) return h('th', attributes, head)
  const mark = direction === 'none' ? '' : direction === 'descending' ? ' ↓' : ' ↑'
  return h(
    'th',
    { ...attributes, 'aria-sort': direction },
    h(
      'button',
      { type: 'button', class: 'sort', onClick: () => turn(head) },
      head,
      h('span', { 'aria-hidden': true }, mark),
    ),
  )
}

/**
 * A row that is drawn again only if its data has changed, because a table may have hundreds of rows and receive several
 * views per second.
 */
class TableRow<Row> extends Component<{ columns: readonly Column<Row>[]; row: Row; stamp: string }> {
  override shouldComponentUpdate(
    next: Readonly<{ columns: readonly Column<Row>[]; row: Row; stamp: string }>,
  ): boolean {
    const { columns, row, stamp } = this.props
    return next.row !== row || next.stamp !== stamp || next.columns.length !== columns.length
  }

  override render(): ComponentChild {
    const { columns, row } = this.props
    return h(
      'tr',
      { role: 'row' },
      columns.map(({ head, cell, isNumber, isWide }) =>
        h(
          'td',
          { key: head, role: 'cell', 'data-head': head, class: `${isNumber ? 'right' : ''}${isWide ? ' wide' : ''}` },
          h('span', {}, cell(row)),
        ),
      ),
    )
  }
}

function sortedBy<Row>(rows: readonly Row[], of: (row: Row) => number | string, isDescending: boolean): Row[] {
  const sign = isDescending ? -1 : 1
  return [...rows].sort((one, other) => {
    const [a, b] = [of(one), of(other)]
    return a === b ? 0 : a < b ? -sign : sign
  })
}
