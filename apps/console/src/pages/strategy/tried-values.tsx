import { type Constraint, type LegalValue, operandError } from '@bunting/contracts';
import { Button } from '../../components/buttons/button.tsx';
import layout from '../../components/layout/layout.module.css';
import { useTriedValues } from '../../strategies/use-tried-values.ts';
import { valueKindOf } from './strategy-inputs.ts';
import styles from './strategy.module.css';

interface TriedValuesProps {
  readonly constraint: Constraint;
  readonly legalValues: readonly LegalValue[];
  readonly onChange: (constraint: Constraint) => void;
}

/** The values that the user has tried lately for the context field, where the constraint can have them: to be taken by one press. */
export function TriedValues({ constraint, legalValues, onChange }: TriedValuesProps) {
  const { contextName, operator, values = [], value } = constraint;
  const isList = valueKindOf(operator) === 'list';
  const offered = useTriedValues()
    .valuesOf(contextName)
    .filter(
      (tried) =>
        operandError({ contextName, operator, values: [tried], value: tried }, '') === undefined &&
        (legalValues.length === 0 || legalValues.some((legal) => legal.value === tried)),
    );
  if (offered.length === 0) return null;
  const press = (tried: string): void => {
    const others = values.filter((other) => other !== tried && other !== '');
    const isAdded = !values.includes(tried);
    onChange({ ...constraint, ...(isList ? { values: isAdded ? [...others, tried] : others } : { value: tried }) });
  };
  return (
    <div className={styles['shares']} role="group" aria-label="Values you tried lately">
      <span className={layout['small']}>Tried lately:</span>
      {offered.map((tried) => (
        <Button
          key={tried}
          size="small"
          aria-pressed={isList ? values.includes(tried) : value === tried}
          onPress={() => press(tried)}
        >
          {tried}
        </Button>
      ))}
    </div>
  );
}
