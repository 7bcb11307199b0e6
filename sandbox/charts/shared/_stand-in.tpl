{{/* What all stand-in charts have in common. Names and labels follow the convention that the real charts follow. */}}

{{/* Name of a release's objects: the release's, with the chart's where that does not say it already. */}}
{{- define "stand-in.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels by which selectors find the pods of a release. */}}
{{- define "stand-in.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels that say who made an object. */}}
{{- define "stand-in.origin" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "stand-in.labels" -}}
{{ include "stand-in.origin" . }}
{{ include "stand-in.selector" . }}
{{- end -}}

{{/* Where pods run: the fields of a pod's spec of these names, out of a map of values. */}}
{{- define "stand-in.placement" -}}
{{- range $field := list "priorityClassName" "runtimeClassName" "nodeSelector" "affinity" "tolerations" "topologySpreadConstraints" }}
{{- with index $ $field }}
{{ $field }}: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Permissions of a service account: a list of name, namespace, rules, and the release. */}}
{{- define "stand-in.cluster-role" -}}
{{- $name := index . 0 }}
{{- $root := index . 3 }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels: {{- include "stand-in.labels" $root | nindent 4 }}
rules: {{- toYaml (index . 2) | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels: {{- include "stand-in.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ $name }}
    namespace: {{ index . 1 }}
{{- end -}}
