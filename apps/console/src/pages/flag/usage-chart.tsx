import type { RawFeatureMetrics } from '@bunting/contracts';
import { useEffect, useMemo, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { hourlyUsage } from './hourly-usage.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';
import { formatDateAndTime } from '../../components/content/time.tsx';
import { formatCount } from '../../text/format-number.ts';

function customProperty(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The color that a custom property of CSS stands for. A canvas does not know `light-dark()`: only the style of an element resolves it. */
function resolveColor(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color === '' ? customProperty(name) : color;
}

const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The label of a time on the axis: the day at midnight, else the hour, as the reader's browser writes them. */
function timeOfAxis(seconds: number): string {
  const date = new Date(seconds * 1000);
  return date.getHours() === 0 && date.getMinutes() === 0 ? day.format(date) : hour.format(date);
}

interface UsageChartProps {
  readonly metrics: RawFeatureMetrics;
  readonly environment: string;
}

/** The number of evaluations of a flag to yes and to no in each of the last 48 hours. */
export function UsageChart({ metrics, environment }: UsageChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [now] = useState(() => Date.now());
  const { hours, yes, no } = useMemo(() => hourlyUsage(metrics.data, environment, now), [metrics, environment, now]);
  const totals = { yes: yes.reduce((sum, count) => sum + count, 0), no: no.reduce((sum, count) => sum + count, 0) };
  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const axis = { stroke: resolveColor('--text-muted'), grid: { stroke: resolveColor('--border'), width: 1 } };
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: 160,
        cursor: { drag: { x: false, y: false } },
        legend: { live: true },
        axes: [
          { ...axis, values: (_chart, times) => times.map(timeOfAxis) },
          { ...axis, size: 60 },
        ],
        scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, max)] } },
        series: [
          { value: (_chart, seconds) => (seconds == null ? '' : formatDateAndTime(seconds * 1000)) },
          { label: 'Yes', stroke: resolveColor('--good'), width: 2 },
          { label: 'No', stroke: resolveColor('--danger'), width: 2, dash: [4, 4] },
        ],
      },
      [hours, yes, no],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: 160 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [hours, yes, no]);
  return (
    <figure>
      <figcaption className={layout['small']}>
        In {environment}, in the last 48 hours: {formatCount(totals.yes, 'time', 'times')} yes,{' '}
        {formatCount(totals.no, 'time', 'times')} no.
      </figcaption>
      <div ref={holder} className={styles['chart']} aria-hidden="true" />
    </figure>
  );
}
