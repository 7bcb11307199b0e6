{{/* Labels of the chart's own objects; a list of the release and the part's name. */}}
{{- define "stack.labels" -}}
{{- $root := index . 0 -}}
app: {{ printf "%s-%s" $root.Chart.Name (index . 1) }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/part-of: {{ $root.Chart.Name }}
release: {{ $root.Release.Name | quote }}
heritage: {{ $root.Release.Service | quote }}
{{ include "stand-in.origin" $root }}
{{- end -}}

{{/* Labels of what charts within the real chart make; a list of the release and that chart's name. */}}
{{- define "stack.part-labels" -}}
{{- $root := index . 0 -}}
{{ include "stack.part-selector" . }}
app.kubernetes.io/part-of: {{ index . 1 }}
{{ include "stand-in.origin" $root }}
{{- end -}}

{{- define "stack.part-selector" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end -}}

{{/* A selector of the Prometheus: everything, or what carries the release's label. */}}
{{- define "stack.reads" -}}
{{- if index . 1 -}}
matchLabels:
  release: {{ (index . 0).Release.Name | quote }}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{- define "stack.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ index . 1 }}
  namespace: {{ (index . 0).Release.Namespace }}
  labels: {{- index . 2 | nindent 4 }}
{{- end -}}
